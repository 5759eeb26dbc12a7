"""What a customer can say and in which words: acts, the bank of frames, noise."""
