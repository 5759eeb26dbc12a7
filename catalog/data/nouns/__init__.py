"""The nouns of things that shops sell, by trade, as text."""
