"""The policy book of a store: its rules, their texts, and the search over them."""
