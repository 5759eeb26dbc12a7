"""JOURNEY: several errands in one conversation."""
