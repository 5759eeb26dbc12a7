"""Reads what the agent writes: what a text asks, claims and names."""
