"""SUB: replace what is sold out."""
