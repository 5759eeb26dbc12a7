"""Runs: which episode a reset gets, what counts for which curriculum, and what may be done to a run."""
