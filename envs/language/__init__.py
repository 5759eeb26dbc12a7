"""What a customer can say and in which words: acts, phrases, templates, noise."""
