"""Reading one row of a source as a product: words, measures, price and brand, and where each value came from."""
