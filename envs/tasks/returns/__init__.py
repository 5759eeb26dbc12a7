"""RETURN: return or exchange what the customer means."""
