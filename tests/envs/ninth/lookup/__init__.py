"""LOOKUP: look one figure of a product up."""
