"""May these words of a model pass: they must say what the acts say, and nothing else."""
