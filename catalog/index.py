"""Exact nearest products: inner products of integer vectors, best first, ties by row.

The scan over all rows is FAISS's brute-force kernel reading the array in place, so that a memory-mapped array is
shared by all worker processes.
"""

from __future__ import annotations

from typing import Protocol

import faiss
import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.errors import IndexMismatchError

_TIE_ROOM = 28
"""Rows fetched beyond those asked for, to see whether ties were cut off."""
_SCAN_SHARE = 4
"""Above one row in this many, scoring all rows is cheaper than gathering some."""


class VectorIndex(Protocol):
    """Finds the rows whose vectors have the largest inner product with a query's."""

    fingerprint: str
    """Of the catalog whose products the vectors are."""
    size: int

    def search(self, query: NDArray[np.float32], k: int) -> NDArray[np.int32]:
        """Return the best ``min(k, size)`` rows, best first, ties by row."""

    def search_subset(self, query: NDArray[np.float32], rows: NDArray[np.int32], k: int) -> NDArray[np.int32]:
        """Return the best ``min(k, len(rows))`` of the different ``rows``, best first, ties by row; always exact."""


class FlatIndex:
    """Scores every row; exact at any size."""

    def __init__(self, vectors: NDArray[np.float32], fingerprint: str) -> None:
        if not len(vectors):
            raise IndexMismatchError("the index holds no vectors; build it from a catalog with products")
        # Parallelism comes from request threads; this is the only place that sets FAISS's own.
        faiss.omp_set_num_threads(1)
        self.vectors = vectors
        self.fingerprint = fingerprint
        self.size = len(vectors)

    def search(self, query: NDArray[np.float32], k: int) -> NDArray[np.int32]:
        """Return the best ``min(k, size)`` rows, best first, ties by row."""
        fetched = min(self.size, k + _TIE_ROOM)
        scores, rows = faiss.knn(query[None], self.vectors, fetched, metric=faiss.METRIC_INNER_PRODUCT)
        if fetched < self.size and scores[0, -1] == scores[0, k - 1]:
            return best(self.vectors @ query, np.arange(self.size, dtype=np.int32), k)
        return best(scores[0], rows[0].astype(np.int32), k)

    def search_subset(self, query: NDArray[np.float32], rows: NDArray[np.int32], k: int) -> NDArray[np.int32]:
        """Return the best ``min(k, len(rows))`` of the different ``rows``, best first, ties by row; always exact."""
        if len(rows) * _SCAN_SHARE > self.size:
            return best((self.vectors @ query)[rows], rows, k)
        return best(self.vectors[rows] @ query, rows, k)


def best(scores: NDArray[np.float32], rows: NDArray[np.int32], k: int) -> NDArray[np.int32]:
    """Return the ``k`` of ``rows`` with the highest scores, best first, ties by row."""
    if k < len(rows):
        kept = np.flatnonzero(scores >= np.partition(scores, len(rows) - k)[len(rows) - k])
        scores, rows = scores[kept], rows[kept]
    return rows[np.lexsort((rows, -scores))[:k]]


def check_fingerprint(index: VectorIndex, fingerprint: str) -> None:
    """Raise :class:`IndexMismatchError` where the index was built for another catalog."""
    if index.fingerprint != fingerprint:
        raise IndexMismatchError(
            f"the index was built for the catalog {index.fingerprint}, not for {fingerprint}; build it again"
        )
