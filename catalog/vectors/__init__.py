"""Texts as vectors and the indexes that find the nearest ones."""
