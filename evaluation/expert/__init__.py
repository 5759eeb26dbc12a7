"""What the experts share: what they hear, what they ask, what they have seen of the store, how they act."""
