"""The simulated customer: code picks what is said, wording only spells it."""
