"""Episodes in the forms that trainers and model servers take; each module needs the library that it is named after."""
