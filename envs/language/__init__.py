"""What a customer can say and how it is spelt: acts, phrases, templates, noise."""
