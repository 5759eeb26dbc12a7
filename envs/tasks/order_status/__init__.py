"""STATUS: tell where an order is."""
