"""RETURN: return or exchange the order line that the customer means."""
