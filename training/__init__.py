"""Training against a server: the authors' recipe as a command, and a proof that something learns."""
