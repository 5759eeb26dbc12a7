"""What plays: built-in agents, chat models behind an API, and whatever a Python path names."""
