"""Any other rows: a mapping says which column holds which field of a product."""
