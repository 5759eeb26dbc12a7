"""Adapters: an episode in the shape that a trainer's library expects, one module for each library."""
