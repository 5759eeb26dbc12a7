"""A set of a catalog's rows that takes one bit for each row, to draw targets from among millions of products."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BLOCK = 64
"""Bytes in a block; the set bits of each block are counted once."""


class RowSet:
    """An immutable ascending set of rows that takes an eighth of a byte for each row of the catalog.

    >>> chosen = RowSet(np.array([True, False, True, True]))
    >>> len(chosen), chosen.row(1), chosen.has(np.array([1, 2])).tolist()
    (3, 2, [False, True])
    """

    __slots__ = ("_before", "_bits")

    def __init__(self, is_in: NDArray[np.bool_]) -> None:
        """Hold the rows at which ``is_in``, one entry for each row of the catalog, is true."""
        blocks = -(-len(is_in) // (8 * _BLOCK))
        self._bits = np.zeros(blocks * _BLOCK, dtype=np.uint8)
        packed = np.packbits(is_in, bitorder="little")
        self._bits[: len(packed)] = packed
        counts = np.bitwise_count(self._bits).reshape(blocks, _BLOCK).sum(axis=1, dtype=np.int64)
        self._before = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))

    def __len__(self) -> int:
        return int(self._before[-1])

    @property
    def nbytes(self) -> int:
        """Memory taken by the bits and their counts."""
        return self._bits.nbytes + self._before.nbytes

    def row(self, rank: int) -> int:
        """Return the row that has ``rank`` smaller rows in the set; ``rank`` is 0 to ``len`` - 1."""
        block = int(self._before.searchsorted(rank, side="right")) - 1
        if rank < 0 or block >= len(self._before) - 1:
            raise IndexError(f"rank {rank} of {len(self)} rows")
        bits = np.unpackbits(self._bits[block * _BLOCK : (block + 1) * _BLOCK], bitorder="little")
        return block * _BLOCK * 8 + int(bits.nonzero()[0][rank - int(self._before[block])])

    def has(self, rows: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Say which of ``rows`` are in the set (shape of ``rows``)."""
        return np.asarray(self._bits.take(rows >> 3) >> (rows & 7).astype(np.uint8) & 1, dtype=np.bool_)
