"""The journal: every episode's spec and actions in the store, written before an answer leaves, and played again."""
