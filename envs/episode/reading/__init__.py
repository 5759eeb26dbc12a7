"""From what a client sends or a model writes to the fields of an action."""
