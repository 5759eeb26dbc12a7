"""Exact nearest products: inner products of integer vectors, best first, ties by row.

Elements are whole numbers of one byte, so that a scan over all rows is bound by little memory, and products and sums of
them are exact in float32. The scan is FAISS's, and reads the array in place: a memory-mapped one is shared by all
worker processes.
"""

from __future__ import annotations

from typing import Protocol

import faiss
import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.errors import IndexMismatchError

_TIE_ROOM = 28
"""Rows fetched beyond those asked for, to see whether ties were cut off."""
_SCAN_SHARE = 8
"""Above one row in this many, a scan that skips the others is cheaper than gathering some."""
_LEAST, _MOST = -128, 127
_GATHERED = 1 << 14
"""Rows that are gathered at a time."""


class VectorIndex(Protocol):
    """Finds the rows whose vectors have the largest inner product with a query's."""

    fingerprint: str
    """Of the catalog whose products the vectors are."""
    size: int

    def search(self, query: NDArray[np.float32], k: int) -> NDArray[np.int32]:
        """Return the best ``min(k, size)`` rows, best first, ties by row."""

    def search_subset(self, query: NDArray[np.float32], rows: NDArray[np.int32], k: int) -> NDArray[np.int32]:
        """Return the best ``min(k, len(rows))`` of the different ``rows``, best first, ties by row; always exact."""


def packed(vectors: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return vectors of whole numbers from -128 to 127 as the bytes that :class:`FlatIndex` reads, in FAISS's format.

    Raises :class:`IndexMismatchError` where there are none, and ``ValueError`` for other numbers.
    """
    if not len(vectors):
        raise IndexMismatchError("the index holds no vectors; build it from a catalog with products")
    if vectors.min() < _LEAST or vectors.max() > _MOST or (np.rint(vectors) != vectors).any():
        raise ValueError(f"vectors must hold whole numbers from {_LEAST} to {_MOST}")
    index = faiss.IndexScalarQuantizer(
        vectors.shape[1], faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT
    )
    index.add(np.ascontiguousarray(vectors, dtype=np.float32))
    return np.asarray(faiss.serialize_index(index))


class FlatIndex:
    """Scores every row; exact at any size."""

    def __init__(self, content: NDArray[np.uint8], fingerprint: str) -> None:
        """Read what :func:`packed` made, where it lies; raises :class:`IndexMismatchError` for anything else."""
        # Parallelism comes from request threads; this is the only place that sets FAISS's own.
        faiss.omp_set_num_threads(1)
        self.content = content
        self._reader = faiss.ZeroCopyIOReader(faiss.swig_ptr(content), content.nbytes)  # type: ignore[attr-defined]
        try:
            self._scan = faiss.read_index(self._reader, faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise IndexMismatchError(f"FAISS cannot read the index: {error}") from error
        self.fingerprint = fingerprint
        self.size = int(self._scan.ntotal)
        shape = (self.size, int(self._scan.d))
        # The codes, each an element less the least one, are the last thing in the format.
        self._codes = content[content.nbytes - shape[0] * shape[1] :].reshape(shape)

    def search(self, query: NDArray[np.float32], k: int) -> NDArray[np.int32]:
        """Return the best ``min(k, size)`` rows, best first, ties by row."""
        return self._scanned(query, k, self.size, None)

    def search_subset(self, query: NDArray[np.float32], rows: NDArray[np.int32], k: int) -> NDArray[np.int32]:
        """Return the best ``min(k, len(rows))`` of the different ``rows``, best first, ties by row; always exact."""
        if len(rows) * _SCAN_SHARE > self.size:
            return self._scanned(query, k, len(rows), rows)
        return best(self._scores(query, rows), rows, k)

    def _scanned(
        self, query: NDArray[np.float32], k: int, among: int, rows: NDArray[np.int32] | None
    ) -> NDArray[np.int32]:
        """Return the best of ``rows``, of which there are ``among``; None: of all."""
        fetched = min(among, k + _TIE_ROOM)
        if rows is None:
            scores, found = self._scan.search(query[None], fetched)
        else:
            is_wanted = np.zeros(self.size, dtype=np.bool_)
            is_wanted[rows] = True
            bits = np.packbits(is_wanted, bitorder="little")
            selector = faiss.IDSelectorBitmap(len(bits), faiss.swig_ptr(bits))
            parameters = faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]  # FAISS adds it at import
            scores, found = self._scan.search(query[None], fetched, params=parameters)
        if fetched < among and scores[0, -1] == scores[0, k - 1]:
            everything = np.arange(self.size, dtype=np.int32) if rows is None else rows
            return best(self._scores(query, everything), everything, k)
        return best(scores[0], found[0].astype(np.int32), k)

    def _scores(self, query: NDArray[np.float32], rows: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the inner products of some rows; every sum on the way is a whole number that float32 holds."""
        offset = np.float32(-_LEAST) * query.sum()
        scores = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), _GATHERED):
            some = slice(start, start + _GATHERED)
            scores[some] = self._codes[rows[some]].astype(np.float32) @ query - offset
        return scores


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
