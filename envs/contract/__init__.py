"""Checks of the contract that every environment must keep; the author of a new environment runs them too."""
