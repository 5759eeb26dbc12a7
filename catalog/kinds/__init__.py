"""What products are: kinds of things, from the nouns of titles and of categories."""
