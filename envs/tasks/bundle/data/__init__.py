"""Data files of the environments."""
