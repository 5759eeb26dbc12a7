"""Files as they lie on disk: compressed or not, in any encoding, as lines, records or JSON values."""
