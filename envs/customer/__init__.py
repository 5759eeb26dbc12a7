"""The simulated customer: code picks what is said; templates or a language model only word it."""
