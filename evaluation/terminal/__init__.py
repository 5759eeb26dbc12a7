"""Episodes in a terminal: the demonstration and playing by hand."""
