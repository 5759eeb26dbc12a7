"""Exports of shops and feeds: which columns they have, and how their records become products with variants."""
