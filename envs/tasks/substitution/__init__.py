"""SUB: find substitutes for a sold-out product."""
