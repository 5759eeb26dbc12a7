"""Named random streams: every random draw of the project comes from one of these.

A stream depends on a seed and a purpose only, and not on earlier draws elsewhere. So a new draw in one place changes
nothing in another. Only this module makes generators.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TypeVar

from numpy import dtype, frombuffer
from numpy.random import PCG64, Generator, SeedSequence

_SEPARATOR = "\x1f"
_WORD = dtype("<u4")
_BATCH = 48
"""So many uniform numbers are drawn at a time. A sentence takes dozens of picks, and a call of numpy's generator for
each would cost more than all the rest of the wording."""
_DRAWN_WHOLE = 1024
"""For at most so many positions the whole order is drawn at once."""

T = TypeVar("T")


class Streams:
    """The family of random streams of one episode, catalog or run.

    Two families with equal roots give equal streams, in any process and on any machine.
    """

    __slots__ = ("_root",)

    def __init__(self, *root: str | int) -> None:
        self._root = blake2b(_SEPARATOR.join(map(str, root)).encode(), digest_size=16)

    def digest(self, *purpose: str | int) -> bytes:
        """Return 16 bytes that depend on the root and the purpose only."""
        hasher = self._root.copy()
        hasher.update((_SEPARATOR + _SEPARATOR.join(map(str, purpose))).encode())
        return hasher.digest()

    def family(self, *purpose: str | int) -> Streams:
        """Return the family of streams of a part, such as one intent of a journey."""
        return Streams(self.digest(*purpose).hex())

    def stream(self, *purpose: str | int) -> Generator:
        """Return a fresh generator for ``purpose``; calling twice gives the same draws twice."""
        # The words of the digest are what numpy would make of it as one whole number, at two thirds of the cost.
        return Generator(PCG64(SeedSequence(frombuffer(self.digest(*purpose), dtype=_WORD))))


def stream(seed: int, *purpose: str | int) -> Generator:
    """Return the generator named ``purpose`` of ``seed``.

    >>> int(stream(7, "coin").integers(100)) == int(stream(7, "coin").integers(100))
    True
    """
    return Streams(seed).stream(*purpose)


class Draws:
    """Uniform picks. They depend on the generator's state and the order of calls."""

    __slots__ = ("_left", "_rng")

    def __init__(self, rng: Generator) -> None:
        self._rng = rng
        self._left: list[float] = []

    def uniform(self) -> float:
        """Return a number in [0, 1)."""
        return (self._left or self._refilled()).pop()

    def pick(self, options: Sequence[T]) -> T:
        """Return one of ``options``, each equally likely."""
        # As uniform() does it, without the call: a book of policies takes five hundred picks.
        left = self._left or self._refilled()
        return options[int(left.pop() * len(options))]

    def _refilled(self) -> list[float]:
        left: list[float] = self._rng.random(_BATCH).tolist()
        self._left = left
        return left

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in random order, each order equally likely."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = int(self.uniform() * (last + 1))
            order[last], order[other] = order[other], order[last]
        return order


def in_random_order(rng: Generator, count: int) -> Iterator[int]:
    """Yield 0 to ``count`` - 1, each once, in uniformly random order. The cost grows with the numbers taken."""
    if count <= _DRAWN_WHOLE:
        yield from rng.permutation(count).tolist()
        return
    # Fisher and Yates's shuffle. Only places that differ from their own number are held.
    moved: dict[int, int] = {}
    for left in range(count, 0, -1):
        at = int(rng.integers(left))
        yield moved.get(at, at)
        moved[at] = moved.get(left - 1, left - 1)
