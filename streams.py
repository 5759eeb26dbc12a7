"""Named random streams: every random draw of the project comes from one of these.

A stream is a function of a seed and a purpose, never of how many draws came before it elsewhere, so adding a draw
in one place moves nothing in another. Only this module makes generators.
"""

from __future__ import annotations

from hashlib import blake2b

from numpy.random import PCG64, Generator

_SEPARATOR = "\x1f"


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
        """Return the family of streams of a part of this one's owner (an intent of a journey)."""
        return Streams(self.digest(*purpose).hex())

    def stream(self, *purpose: str | int) -> Generator:
        """Return a fresh generator for ``purpose``; calling twice gives the same draws twice."""
        return Generator(PCG64(int.from_bytes(self.digest(*purpose), "little")))


def stream(seed: int, *purpose: str | int) -> Generator:
    """Return the generator named ``purpose`` of ``seed``.

    >>> int(stream(7, "coin").integers(100)) == int(stream(7, "coin").integers(100))
    True
    """
    return Streams(seed).stream(*purpose)
