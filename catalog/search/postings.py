"""The products that have a word, by word: from a query's rare words to the products that have most of them.

A query reads a bounded number of entries, its rarest words first, so that a search costs the same however many products
there are. Words beyond that are common: the embedder knows their products, and they count where candidates are scored.
"""

from __future__ import annotations

from collections.abc import Mapping
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

    def matching(self, sought: Sought) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the different rows that have one of the rarest words sought, and their scores for these words."""
        sums = self._sums()
        read = self._affordable(sought)
        for number in read:
            part = slice(self._starts[number], self._starts[number + 1])
            # No row comes twice in a word's part.
            sums[self._rows[part]] += self._impacts[part] * np.int32(sought.weights[number])
        rows, scores = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int32)]
        for number in read:
            some = self._rows[self._starts[number] : self._starts[number + 1]]
            found = sums[some]
            # A row that an earlier word has is read already and has no score any more.
            sums[some] = 0
            rows.append(some)
            scores.append(found)
        every, summed = np.concatenate(rows), np.concatenate(scores)
        is_first = summed > 0
        return every[is_first], summed[is_first]

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
