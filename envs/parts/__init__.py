"""What several tasks share: describing products, drawing constraints, scoring and solving."""
