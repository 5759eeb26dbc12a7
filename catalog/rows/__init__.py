"""One row of a source read as a product: its words, measures, prices and brand, and where each value came from."""
