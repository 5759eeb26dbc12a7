"""Exact nearest products: inner products of integer vectors, best first, ties by row.

Elements are whole numbers of one byte. So a scan over all rows reads little memory, and products and sums are exact in
float32, in any order of addition. FAISS does the scan; a file is memory-mapped and shared by all worker processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import faiss
import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.errors import IndexMismatchError
from ecom_rlve.catalog.vectors.kept import KeptWithRows

LEAST, MOST = -128, 127
"""Bounds of a vector's elements."""
TIE_ROOM = 28
"""So many more rows are fetched than asked for, to see whether ties were cut off."""
_MORE = 4
"""If they were, so many times as many rows are fetched."""
_SCAN_SHARE = 3
"""If more than one row in so many passes, a scan that skips the others is cheaper than gathering rows."""
_GATHERED = 1 << 15
"""So many rows are gathered at a time."""

Found = tuple[NDArray[np.float32], NDArray[np.int32]]
"""Scores and rows."""
Index = TypeVar("Index", bound=faiss.Index)


class VectorIndex(Protocol):
    """Finds the rows whose vectors have the largest inner product with a query's. Safe to use from several threads.

    The first rows for k are the first of those for any larger k.
    """

    fingerprint: str
    """Fingerprint of the catalog to which the vectors belong."""
    size: int

    def search(self, query: NDArray[np.float32], k: int) -> NDArray[np.int32]:
        """Return ``min(k, size)`` of the nearest rows, best first, ties by row."""

    def search_many(self, queries: NDArray[np.float32], k: int) -> list[NDArray[np.int32]]:
        """Return what :meth:`search` returns for each of ``queries``, shape (queries, dimensions)."""

    def search_subset(self, query: NDArray[np.float32], rows: NDArray[np.int32], k: int) -> NDArray[np.int32]:
        """Return ``min(k, len(rows))`` of the nearest of the different ``rows``, best first, ties by row."""

    def scores(self, query: NDArray[np.float32], rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the inner product of each of ``rows`` with the query."""


def flat_index(vectors: NDArray[np.float32] | NDArray[np.int8]) -> faiss.Index:
    """Return the FAISS index that :class:`FlatIndex` reads, of vectors of whole numbers from -128 to 127.

    Raises :class:`IndexMismatchError` where there are none, and ``ValueError`` for other numbers.
    """
    if not len(vectors):
        raise IndexMismatchError("the index holds no vectors; build it from a catalog with products")
    index = faiss.IndexScalarQuantizer(
        vectors.shape[1], faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT
    )
    for start in range(0, len(vectors), _GATHERED):
        index.add_sa_codes(codes_of(vectors[start : start + _GATHERED]))
    return index


def codes_of(vectors: NDArray[np.float32] | NDArray[np.int8]) -> NDArray[np.uint8]:
    """Return each element minus the least one: FAISS's code for it. Raises ``ValueError`` for other numbers."""
    if vectors.dtype == np.int8:
        return np.ascontiguousarray(vectors).view(np.uint8) ^ np.uint8(-LEAST)
    if not (vectors.min() >= LEAST and vectors.max() <= MOST and (np.rint(vectors) == vectors).all()):
        raise ValueError(f"vectors must hold whole numbers from {LEAST} to {MOST}")
    return (vectors - LEAST).astype(np.uint8)


class FlatIndex:
    """Scores every row; exact at any size."""

    def __init__(self, content: NDArray[np.uint8] | Path, fingerprint: str) -> None:
        """Read a :func:`flat_index` from the bytes or the file it was written to; a file is mapped, not read.

        Raises :class:`IndexMismatchError` for anything else.
        """
        self._scan = read_index(content, faiss.IndexScalarQuantizer)
        self._selections = KeptWithRows[Selection]()
        self.fingerprint = fingerprint
        self.size, self.dimensions = int(self._scan.ntotal), int(self._scan.d)
        # The codes are at the end of the format.
        raw = np.asarray(np.memmap(content, dtype=np.uint8, mode="r")) if isinstance(content, Path) else content
        self._codes = raw[raw.nbytes - self.size * self.dimensions :].reshape(self.size, self.dimensions)

    def search(self, query: NDArray[np.float32], k: int) -> NDArray[np.int32]:
        """Return the best ``min(k, size)`` rows, best first, ties by row."""
        return self.search_many(query[None], k)[0]

    def search_many(self, queries: NDArray[np.float32], k: int) -> list[NDArray[np.int32]]:
        """Return what :meth:`search` returns for each of ``queries``, shape (queries, dimensions)."""
        if k < 1:
            return [np.zeros(0, dtype=np.int32)] * len(queries)
        count = min(self.size, k + TIE_ROOM)
        return [
            best(*uncut(first, k, count, self.size, partial(self._scanned_one, query, None)), k)
            for query, first in zip(queries, self._scanned(queries, None, count), strict=True)
        ]

    def search_subset(self, query: NDArray[np.float32], rows: NDArray[np.int32], k: int) -> NDArray[np.int32]:
        """Return the best ``min(k, len(rows))`` of the different ``rows``, best first, ties by row."""
        if k < 1 or not len(rows):
            return np.zeros(0, dtype=np.int32)
        if len(rows) * _SCAN_SHARE > self.size:
            selection = self._selections.get(rows, lambda: Selection(rows, self.size))
            scan = partial(self._scanned_one, query, selection)
            count = min(len(rows), k + TIE_ROOM)
            return best(*uncut(scan(count), k, count, len(rows), scan), k)
        parts = [self._best_gathered(query, rows[at : at + _GATHERED], k) for at in range(0, len(rows), _GATHERED)]
        return best(np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts]), k)

    def scores(self, query: NDArray[np.float32], rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the inner product of each of ``rows`` with the query."""
        # Exact in float32, whatever the order of addition; a code is its element less the least one.
        products = self._codes.take(rows, axis=0).astype(np.float32) @ query
        return np.asarray(products.astype(np.int64) + LEAST * int(query.sum()))

    def _best_gathered(self, query: NDArray[np.float32], rows: NDArray[np.int32], k: int) -> Found:
        """Return the best of some rows, and perhaps a few more, from a copy of their codes.

        That is cheaper than a scan that skips the others.
        """
        one_thread()
        some = faiss.IndexScalarQuantizer(
            self.dimensions, faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT
        )
        some.add_sa_codes(self._codes[rows])

        def scan(count: int) -> Found:
            scores, places = some.search(query[None], count)
            return scores[0], rows[places[0]]

        count = min(len(rows), k + TIE_ROOM)
        return uncut(scan(count), k, count, len(rows), scan)

    def _scanned(self, queries: NDArray[np.float32], wanted: Selection | None, count: int) -> list[Found]:
        one_thread()
        selector = None if wanted is None else wanted.selector
        parameters = faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]  # faiss adds these keywords when it is imported
        scores, rows = self._scan.search(queries, count, params=parameters)
        return list(zip(scores, rows.astype(np.int32), strict=True))

    def _scanned_one(self, query: NDArray[np.float32], wanted: Selection | None, count: int) -> Found:
        return self._scanned(query[None], wanted, count)[0]


class Selection:
    """Some rows as FAISS takes them."""

    def __init__(self, rows: NDArray[np.int32], size: int) -> None:
        is_wanted = np.zeros(size, dtype=np.bool_)
        for start in range(0, len(rows), _GATHERED):
            # numpy would convert all of them to its own index type first, which costs more than setting the bits.
            is_wanted[rows[start : start + _GATHERED].astype(np.intp)] = True
        # The selector points into the bits.
        self._bits = np.packbits(is_wanted, bitorder="little")
        self.selector = faiss.IDSelectorBitmap(len(self._bits), faiss.swig_ptr(self._bits))


def read_index(content: NDArray[np.uint8] | Path, kind: type[Index]) -> Index:
    """Return a FAISS index of one kind; a file is mapped. Raises :class:`IndexMismatchError` for anything else."""
    try:
        if isinstance(content, Path):
            index = faiss.read_index(os.fspath(content), faiss.IO_FLAG_MMAP_IFC)
        else:
            index = faiss.deserialize_index(content)
    except RuntimeError as error:
        raise IndexMismatchError(f"FAISS cannot read the index: {error}") from error
    if not isinstance(index, kind) or not index.ntotal:
        raise IndexMismatchError(f"the index is of another kind or holds no vectors: {type(index).__name__}")
    return index


def one_thread() -> None:
    """Let FAISS use the calling thread only (set for each thread): parallelism comes from request threads."""
    faiss.omp_set_num_threads(1)


def uncut(found: Found, k: int, count: int, among: int, scan: Callable[[int], Found]) -> Found:
    """Return what a scan finds, with all rows that are as good as the ``k``-th.

    ``found`` are the best ``count`` of ``among`` rows, or all if there are fewer. More are fetched as long as rows that
    were left out may be as good as the ``k``-th.
    """
    scores, rows = found
    while len(rows) == count and k < count < among and scores[-1] == scores[k - 1]:
        count = min(among, _MORE * count)
        scores, rows = scan(count)
    return scores, rows


def best(scores: NDArray[np.float32] | NDArray[np.int64], rows: NDArray[np.int32], k: int) -> NDArray[np.int32]:
    """Return the ``k`` of ``rows`` with the highest scores, best first, ties by row.

    >>> best(np.array([1, 3, 3]), np.array([7, 9, 4]), 2).tolist()
    [4, 9]
    """
    if k < len(rows):
        kept = np.flatnonzero(scores >= np.partition(scores, len(rows) - k)[len(rows) - k])
        scores, rows = scores[kept], rows[kept]
    return rows[np.lexsort((rows, -scores))[:k]]


def check_fingerprint(index: VectorIndex, fingerprint: str) -> None:
    """Raise :class:`IndexMismatchError` if the index was built for another catalog."""
    if index.fingerprint != fingerprint:
        raise IndexMismatchError(
            f"the index was built for the catalog {index.fingerprint}, not for {fingerprint}; build it again"
        )
