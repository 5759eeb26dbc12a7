"""BUNDLE: plan a project within a budget."""
