"""What the pages say of each environment, a module for each."""
