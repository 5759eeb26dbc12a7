"""Positions in random order, of which usually only the first few are wanted."""

from __future__ import annotations

from collections.abc import Iterator

from numpy.random import Generator

_DRAWN_WHOLE = 1024
"""Up to so many positions the whole order is drawn at once."""


def in_random_order(rng: Generator, count: int) -> Iterator[int]:
    """Yield 0 to ``count`` - 1, each once, in an order that is uniformly random; costs what is taken from it."""
    if count <= _DRAWN_WHOLE:
        yield from rng.permutation(count).tolist()
        return
    # Fisher and Yates's shuffle, of which only the places that differ from their own number are held.
    moved: dict[int, int] = {}
    for left in range(count, 0, -1):
        at = int(rng.integers(left))
        yield moved.get(at, at)
        moved[at] = moved.get(left - 1, left - 1)
