"""Training: a proof that something learns in these environments, with the algorithm that larger models use."""
