"""The products that have a word, by word: from a query's rare words to the products that have most of them.

A query reads a bounded number of entries, its rarest words first, so that a search costs the same however many products
there are. Words beyond that are common: the embedder knows their products, and they count where candidates are scored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ecom_rlve.catalog.columns.words import Bags, Sought

MOST_READ = 1 << 14
"""Entries that one query reads at most. Words of more products are not posted."""


class Postings:
    """The rows of each word that is not too common, ascending, and its impact on each of them."""

    def __init__(self, bags: Bags, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take the arrays of :meth:`arrays_of`, which may be memory-mapped; ``KeyError`` if one is missing."""
        self._bags = bags
        self._starts: NDArray[np.int64] = arrays["posting_starts"]
        self._rows: NDArray[np.int32] = arrays["posting_rows"]
        self._impacts: NDArray[np.uint8] = arrays["posting_impacts"]
        self._scratch = local()

    @staticmethod
    def arrays_of(bags: Bags) -> dict[str, NDArray[Any]]:
        """Return the arrays that follow from the bags."""
        is_posted = bags.document_frequency <= MOST_READ
        kept = np.flatnonzero(is_posted[bags.numbers])
        bounds = np.searchsorted(kept, bags.offsets)
        shape = bags.size, max(1, len(bags.vocabulary))
        by_row: csr_matrix = csr_matrix((bags.impacts[kept], bags.numbers[kept], bounds), shape=shape)
        by_word = by_row.tocsc()
        return {
            "posting_starts": by_word.indptr.astype(np.int64),
            "posting_rows": by_word.indices.astype(np.int32),
            "posting_impacts": by_word.data,
        }

    def matching(
        self, sought: Sought, passes: Callable[[NDArray[np.int32]], NDArray[np.bool_]] | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the different rows that have one of the rarest words sought, and their scores for these words.

        ``passes`` tells which of some rows may be found (None: all).
        """
        sums = self._sums()
        found: list[NDArray[np.intp]] = []
        for number in self._affordable(sought):
            part = slice(self._starts[number], self._starts[number + 1])
            rows, impacts = self._rows[part], self._impacts[part]
            if passes is not None:
                kept = np.flatnonzero(passes(rows))
                rows, impacts = rows.take(kept), impacts.take(kept)
            # numpy would convert the rows to its own index type each time that they are used.
            places = rows.astype(np.intp)
            # No row comes twice in a word's part.
            sums[places] = sums.take(places) + impacts * np.int32(sought.weights[number])
            found.append(places)
        if not found:
            return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)
        every = np.concatenate(found)
        scores = []
        for places in found:
            scores.append(sums.take(places))
            # A row that an earlier word has is read already and has no score any more.
            sums[places] = 0
        summed = np.concatenate(scores)
        first = np.flatnonzero(summed)
        return every.take(first).astype(np.int32), summed.take(first)

    def _affordable(self, sought: Sought) -> list[int]:
        """Return the rarest words that together have at most MOST_READ entries."""
        frequency = self._bags.document_frequency
        read, left = [], MOST_READ
        for seen, number in sorted((int(frequency[number]), number) for number in sought.weights):
            left -= seen
            if left < 0:
                break
            read.append(number)
        return read

    def _sums(self) -> NDArray[np.int32]:
        """Return this thread's sums, all zero."""
        if not hasattr(self._scratch, "sums"):
            self._scratch.sums = np.zeros(self._bags.size, dtype=np.int32)
        sums: NDArray[np.int32] = self._scratch.sums
        return sums
