"""Products: sources, columns, text embedder, index, search. Knows nothing of episodes."""
