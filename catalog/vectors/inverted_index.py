"""An inverted file for millions of products: a query scans only the lists whose centroids are nearest to it.

The choice of lists and every score are exact integer arithmetic, so a page is the same on every machine. A filter that
few products pass is answered exactly, from those products alone. For a broad filter the nearest lists are scanned until
they hold enough rows that pass; lists without such rows are skipped. How many lists a query without filter scans is
measured when the index is built (:func:`ecom_rlve.catalog.vectors.recall.probes_for`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.errors import IndexMismatchError
from ecom_rlve.catalog.vectors.clustering import centroids_of, nearest
from ecom_rlve.catalog.vectors.index import (
    TIE_ROOM,
    FlatIndex,
    Found,
    Selection,
    best,
    codes_of,
    flat_index,
    one_thread,
    read_index,
    uncut,
)
from ecom_rlve.catalog.vectors.kept import KeptWithRows

EXACT_ROWS = 60_000
"""A filter that at most so many rows pass is answered exactly: 3 % of two million in a few milliseconds."""
_ENOUGH = 20_000
"""Of the rows that pass a broad filter, at least so many are compared."""
_FOUND = 256
"""If the lists hold fewer rows than this, all rows are compared. So many are looked for whatever k is, so that k
changes only the length of the answer."""
_COUNTED = 1 << 19
"""Up to so many rows of a broad filter are counted list by list. Of more rows only a sample is, and then no list counts
as empty."""
_FIRST_LISTS = 768
"""So many lists are tried first, which is mostly enough; then all."""
_SAMPLED = 8
"""One row in so many is in the sample."""


def list_count(size: int) -> int:
    """Return the number of lists for so many products: a power of two, at most 3 times the square root.

    >>> list_count(2_000_000)
    4096
    """
    return 1 << max(0, int(3 * size**0.5).bit_length() - 1)


def clustered(
    vectors: NDArray[np.int8], threads: int, progress: Callable[[int, int], None] | None = None
) -> tuple[NDArray[np.int8], NDArray[np.uint16]]:
    """Return the centroids of the lists, shape (lists, dimensions), and the list of each vector."""
    centroids = centroids_of(vectors, min(list_count(len(vectors)), len(vectors), 1 << 16), threads)
    return centroids, nearest(vectors, centroids, threads, progress).astype(np.uint16)


def inverted_lists(vectors: NDArray[np.int8], lists: int, list_of_row: NDArray[np.uint16]) -> faiss.Index:
    """Return the FAISS index that :class:`InvertedIndex` reads: the rows and codes of each list."""
    dimensions = vectors.shape[1]
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dimensions),
        dimensions,
        lists,
        faiss.ScalarQuantizer.QT_8bit_direct_signed,
        faiss.METRIC_INNER_PRODUCT,
        False,
    )
    order = np.argsort(list_of_row, kind="stable")
    bounds = np.searchsorted(list_of_row[order], np.arange(lists + 1))
    lists_in = index.invlists
    assert lists_in is not None, "a new index has lists"
    for number in range(lists):
        rows = order[bounds[number] : bounds[number + 1]].astype(np.int64)
        if len(rows):
            codes = codes_of(vectors[rows])
            lists_in.add_entries(number, len(rows), faiss.swig_ptr(rows), faiss.swig_ptr(codes))
    index.ntotal, index.is_trained = len(vectors), True
    return index


Chosen = tuple[Selection, NDArray[np.int64]]


def _step(rows: NDArray[np.int32]) -> int:
    """Return 1 if every row is counted, n if only one in n is."""
    return 1 if len(rows) <= _COUNTED else _SAMPLED


class InvertedIndex:
    """Scores the rows of some lists; answers exactly where a filter leaves few rows."""

    def __init__(
        self,
        lists: NDArray[np.uint8] | Path,
        flat: FlatIndex,
        centroids: NDArray[np.int8],
        list_of_row: NDArray[np.uint16],
        probes: int,
    ) -> None:
        """Read :func:`inverted_lists` from the bytes or the file they were written to; a file is mapped, not read.

        ``flat`` holds the same vectors by row. Raises :class:`IndexMismatchError` if the parts do not fit together.
        """
        self._lists = read_index(lists, faiss.IndexIVFScalarQuantizer)
        self._flat, self._list_of_row = flat, list_of_row
        self.probes = min(probes, len(centroids))
        self.fingerprint, self.size = flat.fingerprint, flat.size
        self.lists = len(centroids)
        self._choices = KeptWithRows[Chosen]()
        sizes = (self._lists.ntotal, self._lists.nlist, self._lists.d, len(list_of_row))
        if sizes != (flat.size, len(centroids), flat.dimensions, flat.size):
            raise IndexMismatchError("the parts of the index do not fit together; build it again")
        self._coarse = FlatIndex(faiss.serialize_index(flat_index(centroids)), flat.fingerprint)

    def search(self, query: NDArray[np.float32], k: int) -> NDArray[np.int32]:
        """Return ``min(k, size)`` of the nearest rows, best first, ties by row."""
        return self.search_many(query[None], k)[0]

    def search_many(self, queries: NDArray[np.float32], k: int) -> list[NDArray[np.int32]]:
        """Return what :meth:`search` returns for each of ``queries``, shape (queries, dimensions)."""
        lists = np.array(self._coarse.search_many(queries, self.probes), dtype=np.int64)
        firsts = self._scanned(queries, lists, min(self.size, max(k, _FOUND) + TIE_ROOM))
        return [self._completed(*asked, None, k) for asked in zip(queries, lists, firsts, strict=True)]

    def search_subset(self, query: NDArray[np.float32], rows: NDArray[np.int32], k: int) -> NDArray[np.int32]:
        """Return ``min(k, len(rows))`` of the nearest of the different ``rows``, best first, ties by row.

        Exact for at most EXACT_ROWS rows.
        """
        if len(rows) <= EXACT_ROWS:
            return self._flat.search_subset(query, rows, k)
        wanted, counts = self._choices.get(rows, lambda: self._chosen(rows))
        lists = self._lists_for(query, rows, counts)
        first = self._scanned(query[None], lists[None], min(len(rows), max(k, _FOUND) + TIE_ROOM), wanted)[0]
        return self._completed(query, lists, first, (rows, wanted), k)

    def scores(self, query: NDArray[np.float32], rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the inner product of each of ``rows`` with the query."""
        return self._flat.scores(query, rows)

    def _chosen(self, rows: NDArray[np.int32]) -> Chosen:
        """Return the rows as FAISS takes them, and how many of them each list holds."""
        step = _step(rows)
        counts = np.bincount(self._list_of_row[rows[::step]], minlength=self._coarse.size) * step
        return Selection(rows, self.size), counts

    def _lists_for(
        self, query: NDArray[np.float32], rows: NDArray[np.int32], counts: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the nearest lists that together hold enough of ``rows``, without lists that hold none."""
        step = _step(rows)
        for asked in (min(_FIRST_LISTS, self.lists), self.lists):
            lists = self._coarse.search(query, asked).astype(np.int64)
            if step == 1:
                lists = lists[counts[lists] > 0]
            enough = max(self.probes, int(np.searchsorted(np.cumsum(counts[lists]), _ENOUGH)) + 1)
            if enough <= len(lists):
                break
        return lists[:enough]

    def _completed(
        self,
        query: NDArray[np.float32],
        lists: NDArray[np.int64],
        first: Found,
        among: tuple[NDArray[np.int32], Selection] | None,
        k: int,
    ) -> NDArray[np.int32]:
        """Return the best ``k`` rows of the lists; if they hold fewer, the best other rows follow."""
        rows, wanted = (None, None) if among is None else among
        size = self.size if rows is None else len(rows)
        most = max(k, _FOUND)
        scan = partial(self._scanned_one, query, lists, wanted)
        found = best(*uncut(first, most, min(size, most + TIE_ROOM), size, scan), most)
        if len(found) < min(_FOUND, size):
            return self._flat.search(query, k) if rows is None else self._flat.search_subset(query, rows, k)
        if len(found) < min(k, size):
            others = np.setdiff1d(np.arange(size, dtype=np.int32) if rows is None else rows, found)
            found = np.concatenate((found, self._flat.search_subset(query, others, k - len(found))))
        return found[: max(k, 0)]

    def _scanned(
        self, queries: NDArray[np.float32], lists: NDArray[np.int64], count: int, wanted: Selection | None = None
    ) -> list[Found]:
        """Return the best rows of the lists of each query, at most ``count``."""
        one_thread()
        asked = np.ascontiguousarray(queries)
        scores = np.empty((len(asked), count), dtype=np.float32)
        rows = np.empty((len(asked), count), dtype=np.int64)
        # The method of the same name without the suffix takes no parameters.
        self._lists.search_preassigned_c(  # type: ignore[attr-defined]  # faiss has it, its stubs leave it out
            len(asked),
            faiss.swig_ptr(asked),
            count,
            faiss.swig_ptr(lists),
            faiss.swig_ptr(np.zeros(lists.shape, dtype=np.float32)),
            faiss.swig_ptr(scores),
            faiss.swig_ptr(rows),
            False,
            self._parameters(lists.shape[1], wanted),
        )
        # A missing row is -1 and comes last.
        found = (rows >= 0).sum(axis=1).tolist()
        return [
            (some[:length], numbers[:length].astype(np.int32))
            for some, numbers, length in zip(scores, rows, found, strict=True)
        ]

    def _scanned_one(
        self, query: NDArray[np.float32], lists: NDArray[np.int64], wanted: Selection | None, count: int
    ) -> Found:
        return self._scanned(query[None], lists[None], count, wanted)[0]

    @staticmethod
    def _parameters(probes: int, wanted: Selection | None) -> faiss.SearchParametersIVF:
        selector = None if wanted is None else wanted.selector
        return faiss.SearchParametersIVF(nprobe=probes, sel=selector)  # type: ignore[call-arg]  # faiss adds these keywords when it is imported
