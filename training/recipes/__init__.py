"""Recipes that ship with the package, as YAML."""
