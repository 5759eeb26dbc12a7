"""What several tasks share: describing products, drawing constraints, scoring, solving."""
