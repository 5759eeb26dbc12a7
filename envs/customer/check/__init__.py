"""Checks a model's words: they must say what the acts say, and nothing else."""
