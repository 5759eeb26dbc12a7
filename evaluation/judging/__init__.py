"""Judging agents: runs that survive a kill, what they measured, replays, data to learn from, a board (SPEC §10)."""
