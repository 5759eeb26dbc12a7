"""The policy book of a store: its rules, their texts, and a search over the texts."""
