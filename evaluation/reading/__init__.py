"""Reading the customer's words."""
