"""One episode of a server: what is kept with it, and how it takes a step."""
