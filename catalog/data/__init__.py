"""Data files of the procedural catalog."""
