"""STATUS: find an order and tell its status."""
