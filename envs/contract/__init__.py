"""What every environment must keep, as checks that the author of a new one runs too."""
