"""Judging agents: built-in agents, soundness, benchmarks, playing by hand."""
