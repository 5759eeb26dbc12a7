"""Reading the agent: what a text asks, claims and names."""
