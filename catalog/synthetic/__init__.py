"""The procedural default catalog."""
