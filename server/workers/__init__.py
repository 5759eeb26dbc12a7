"""Several processes that serve: what they share, and who starts them and starts them again."""
