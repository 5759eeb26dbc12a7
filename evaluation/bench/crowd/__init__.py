"""Many clients at once, some of whom die: what is left of them afterwards, and whether each reward was right."""
