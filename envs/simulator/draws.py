"""Cheap picks from a generator: one batch of uniform draws feeds many small decisions.

A sentence takes dozens of picks; a call of numpy's generator for each would cost more than all the rest of wording it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from numpy.random import Generator

_BATCH = 48

T = TypeVar("T")


class Draws:
    """Uniform picks, a function of the generator's state and of the order of calls."""

    __slots__ = ("_left", "_rng")

    def __init__(self, rng: Generator) -> None:
        self._rng = rng
        self._left: list[float] = []

    def uniform(self) -> float:
        """Return a number in [0, 1)."""
        if not self._left:
            self._left = self._rng.random(_BATCH).tolist()
        return self._left.pop()

    def pick(self, options: Sequence[T]) -> T:
        """Return one of ``options``, each equally likely."""
        return options[int(self.uniform() * len(options))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in random order, each order equally likely."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = int(self.uniform() * (last + 1))
            order[last], order[other] = order[other], order[last]
        return order
