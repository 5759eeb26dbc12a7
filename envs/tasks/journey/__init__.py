"""JOURNEY: several intents in one conversation."""
