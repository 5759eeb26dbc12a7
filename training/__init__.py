"""Training against a server: the authors' recipe as a command, and what it needs beside a trainer."""
