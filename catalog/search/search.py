"""Search over one catalog: by words, or by price, rating and delivery; over all rows or those that pass filters.

A text search takes the products whose embeddings are nearest and those that have most of the query's rare words, and
orders them by both (:mod:`ecom_rlve.catalog.search.fusion`). All arithmetic is exact, on integers, and ties are broken
by row. So a page is the same on every machine, and the results for k are the first k of those for any larger k.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.constraints import Constraint, Op, all_satisfied, satisfied
from ecom_rlve.catalog.errors import CatalogError, IndexMismatchError
from ecom_rlve.catalog.search.folder import Facts, Folder, Memory, SealedFolder
from ecom_rlve.catalog.search.fusion import Asked, asked_of, fused, in_turns
from ecom_rlve.catalog.search.passing import Passing
from ecom_rlve.catalog.search.spelling import nearest_word, respelt, words_of_kinds
from ecom_rlve.catalog.search.stages import (
    SCAFFOLDING,
    Parts,
    Progress,
    build,
    identity_of,
    opened,
)
from ecom_rlve.catalog.vectors.index import best, check_fingerprint

SortKey = Literal["price_asc", "rating_desc", "ship_days_asc"]
Orders = Mapping[str, tuple[NDArray[np.int32], NDArray[np.int32]]]
DEPTH = 128
"""So many of the nearest rows, and of those with the most words, are ordered by both; all others follow in the order of
their embeddings."""
_FEW_ROWS = 512
"""Of so few rows that pass a filter, all are ordered by both."""
_SUBFOLDER = "search"
# Their vectors take 3 MiB.
_CACHED_QUERIES = 4_096
_KIND_MATCHES, _KIND_LEAST = 10, 3
"""So many of the best matches tell what a query is about: the kinds that at least so many of them are of."""
_POSTING_SHARE = 16
"""If more than one row in so many must be looked up, a scan of whole columns is cheaper."""
_log = logging.getLogger(__name__)


class Search:
    """Ranks the products of a catalog. Safe to use from several threads."""

    def __init__(self, catalog: Catalog, parts: Parts) -> None:
        """Search a catalog with what was built for it; raises :class:`IndexMismatchError` if it was for another."""
        check_fingerprint(parts.index, catalog.fingerprint)
        if parts.index.size != catalog.size or parts.bags.size != catalog.size:
            raise IndexMismatchError(f"the index holds {parts.index.size} products, the catalog {catalog.size}")
        self.catalog = catalog
        self.bags, self.embedder, self.index = parts.bags, parts.embedder, parts.index
        self._postings, self._orders = parts.postings, parts.orders
        self._nearest_word = lru_cache(_CACHED_QUERIES)(partial(nearest_word, kinds=words_of_kinds(catalog.categories)))
        self._passing = Passing(catalog.size)
        self._asked = lru_cache(_CACHED_QUERIES)(self._read)
        self.kinds = lru_cache(_CACHED_QUERIES)(self._kinds)

    @classmethod
    def build(cls, catalog: Catalog) -> Search:
        """Fit the local embedder on the catalog and index every product, in memory."""
        return cls(catalog, build(catalog, Memory(), identity_of(catalog))[0])

    @classmethod
    def write(
        cls,
        catalog: Catalog,
        directory: Path,
        *,
        embedder: str = "local",
        index: str = "auto",
        workers: int = 1,
        progress: Progress | None = None,
    ) -> Facts:
        """Write all that :meth:`open` needs into ``directory`` and return the facts for its manifest.

        ``embedder`` is ``local`` or ``st:MODEL``, ``index`` is ``auto`` (by size), ``flat`` or ``ivf``. A killed
        build is continued after its last finished stage and gives the same bytes; a finished one is kept. ``workers``
        is the number of processes and threads. Raises :class:`CatalogError`.
        """
        identity = identity_of(catalog, embedder, index)
        home = directory / _SUBFOLDER
        try:
            kept = SealedFolder(home)
            if kept.identity == identity:
                kept.sweep()
                return kept.facts
        except IndexMismatchError as error:
            _log.info("building the search index: %s", error)
        try:
            return _written(catalog, home, identity, workers, progress)
        except OSError as error:
            raise CatalogError(
                f"the search index cannot be written to {home}: {error}; make room or choose another folder and start "
                "again: what is finished is kept"
            ) from error

    @classmethod
    def open(cls, catalog: Catalog, directory: Path) -> Search:
        """Open what :meth:`write` made for this catalog, memory-mapped.

        Raises :class:`IndexMismatchError` if it is unfinished, incomplete or of another catalog.
        """
        folder = SealedFolder(directory / _SUBFOLDER)
        return cls(catalog, opened(catalog, folder))

    @classmethod
    def open_or_build(cls, catalog: Catalog, cache_dir: Path | None) -> Search:
        """Open the index that was built for this catalog under ``cache_dir``; if it is missing or damaged, build it.

        A new index is kept there for the next start. If the directory cannot be written, it is only not kept.
        """
        if cache_dir is None:
            return cls.build(catalog)
        identity = identity_of(catalog)
        home = cache_dir / f"search-{catalog.fingerprint}"
        try:
            return cls(catalog, _verified(catalog, home, identity))
        except IndexMismatchError as error:
            _log.info("building the search index: %s", error)
        try:
            _replace(catalog, home, identity)
        except OSError as error:
            _log.warning("the search index is not kept for the next start: %s", error)
            return cls.build(catalog)
        return cls(catalog, _verified(catalog, home, identity))

    def rank(
        self, query: str, rows: NDArray[np.int32] | None, k: int, without: Collection[int] = ()
    ) -> NDArray[np.int32]:
        """Return at most ``k`` of the different ``rows`` (None: all), the best match first, ties by row.

        A query without any known word or word part matches all equally: rows come in ascending order. ``without`` are
        a few rows to leave out: this is cheaper than to remove them from many ``rows``.
        """
        if k < 1:
            return np.zeros(0, dtype=np.int32)
        asked = self._asked(query)
        if not asked[0].is_known:
            return _less(_first(self.catalog.size, rows, k + len(without)), without)[:k]
        return in_turns([self._ranked(thing, rows, k, without) for thing in asked])[:k]

    def _ranked(
        self, asked: Asked, rows: NDArray[np.int32] | None, k: int, without: Collection[int]
    ) -> NDArray[np.int32]:
        """Return ``k`` rows, the best matches for one thing first."""
        found = self._nearest(asked, rows, max(k, DEPTH), without)
        near, tail = found[:DEPTH], found[DEPTH:]
        others = self._with_words(asked, rows, without)
        head = np.concatenate((near, others[~self._passing.among(near, others)]))
        scores = fused(asked, self.bags.scores(asked.sought, head), self.index.scores(asked.vector, head))
        ordered = best(scores, head, k)
        if len(ordered) == k:
            return ordered
        return np.concatenate((ordered, tail[~self._passing.among(head, tail)]))[:k]

    def _read(self, query: str) -> tuple[Asked, ...]:
        query = respelt(query, self.bags.vocabulary.__contains__, self._nearest_word)
        return asked_of(self.bags, self.embedder.encode(query), query)

    def _nearest(
        self, asked: Asked, rows: NDArray[np.int32] | None, k: int, without: Collection[int]
    ) -> NDArray[np.int32]:
        """Return the ``k`` rows with the nearest vectors, best first."""
        index, most = self.index, k + len(without)
        found = index.search(asked.vector, most) if rows is None else index.search_subset(asked.vector, rows, most)
        return _less(found, without)[:k]

    def _with_words(self, asked: Asked, rows: NDArray[np.int32] | None, without: Collection[int]) -> NDArray[np.int32]:
        """Return the rows that have most of the words sought; all rows where they are few."""
        if rows is not None and len(rows) <= _FEW_ROWS:
            return _less(rows, without)
        if rows is None:
            found, scores = self._postings.matching(asked.sought)
        else:
            with self._passing.test(rows) as passes:
                found, scores = self._postings.matching(asked.sought, passes)
        if without:
            kept = ~np.isin(found, list(without))
            found, scores = found[kept], scores[kept]
        return _most(scores, found, DEPTH)

    def _kinds(self, query: str) -> tuple[int, ...]:
        """Return the codes of the categories that a query is about; none if it has no known word.

        They are those of at least three of its ten best matches, or that of the best one.
        """
        if not self._asked(query)[0].is_known:
            return ()
        found = self.catalog.category_codes[self.rank(query, None, _KIND_MATCHES)]
        codes, counts = np.unique(found, return_counts=True)
        often = codes[counts >= _KIND_LEAST]
        return tuple((often if len(often) else found[:1]).tolist())

    def order(
        self,
        key: SortKey,
        rows: NDArray[np.int32] | None,
        k: int,
        without: Collection[int] = (),
        kinds: Collection[int] = (),
    ) -> NDArray[np.int32]:
        """Return at most ``k`` of the different ``rows`` (None: all) sorted by ``key``, unknown last, ties by row.

        A price "from 12.99" counts as unknown. ``without`` are a few rows to leave out. Products of ``kinds``, codes of
        categories, come before all others.
        """
        if not kinds:
            return self._sorted(key, rows, k, without)
        first = self._sorted(key, self._of_kinds(rows, kinds), k, without)
        if len(first) == k:
            return first
        others = self._sorted(key, rows, k + len(first), without)
        return np.concatenate((first, others[~np.isin(others, first)]))[:k]

    def _of_kinds(self, rows: NDArray[np.int32] | None, kinds: Collection[int]) -> NDArray[np.int32]:
        """Return those of ``rows`` (None: all) that are of the kinds."""
        if rows is not None:
            return rows[np.isin(self.catalog.category_codes[rows], list(kinds))]
        names = [self.catalog.categories[code].name for code in kinds]
        return np.concatenate([self.catalog.rows_of_category(name) for name in names])

    def _sorted(
        self, key: SortKey, rows: NDArray[np.int32] | None, k: int, without: Collection[int]
    ) -> NDArray[np.int32]:
        everything, place = self._orders[key]
        if k < 1:
            return everything[:0]
        asked = k + len(without)
        if rows is None:
            return _less(everything[:asked], without)[:k]
        places = place[rows]
        if asked < len(places):
            places = np.partition(places, asked - 1)[:asked]
        return _less(everything[np.sort(places)[:asked]], without)[:k]


def passing_rows(catalog: Catalog, constraints: Sequence[Constraint]) -> NDArray[np.int32] | None:
    """Return the rows that meet every constraint, ascending; None if there is no constraint."""
    if not constraints:
        return None
    lists = [(_posting_list(catalog, constraint), place) for place, constraint in enumerate(constraints)]
    known = [(len(rows), place, rows) for rows, place in lists if rows is not None]
    if known:
        count, first, rows = min(known, key=lambda entry: entry[:2])
        if count * _POSTING_SHARE <= catalog.size:
            return all_satisfied(catalog, (*constraints[:first], *constraints[first + 1 :]), rows)
    met = satisfied(catalog, constraints[0], slice(None))
    for constraint in constraints[1:]:
        met &= satisfied(catalog, constraint, slice(None))
    return np.flatnonzero(met).astype(np.int32)


def _most(scores: NDArray[np.int32], rows: NDArray[np.int32], k: int) -> NDArray[np.int32]:
    """Return the ``k`` of different ``rows`` with the highest scores, of equals the first rows, in any order."""
    if len(rows) <= k:
        return rows
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    above, equal = rows[scores > least], rows[scores == least]
    missing = k - len(above)
    if missing < len(equal):
        equal = np.partition(equal, missing - 1)[:missing]
    return np.concatenate((above, equal))


def _less(rows: NDArray[np.int32], without: Collection[int]) -> NDArray[np.int32]:
    return rows[~np.isin(rows, list(without))] if without else rows


def _posting_list(catalog: Catalog, constraint: Constraint) -> NDArray[np.int32] | None:
    """Return the rows of an equality on a coded column; None for any other constraint."""
    column = catalog.column(constraint.attribute)
    if constraint.op is not Op.EQ or column.vocabulary is None or not isinstance(constraint.value, str):
        return None
    code = column.encode(constraint.value)
    return column.postings.rows(-1 if code is None else int(code))


def _written(catalog: Catalog, home: Path, identity: Facts, workers: int, progress: Progress | None) -> Facts:
    folder = Folder(home, identity)
    _, facts = build(catalog, folder, identity, workers, progress)
    folder.seal(SCAFFOLDING, facts)
    return facts


def _verified(catalog: Catalog, home: Path, identity: Facts) -> Parts:
    """Return what a folder holds, after checking that every byte is as it was written for ``identity``."""
    folder = SealedFolder(home, is_verified=True)
    if folder.identity != identity:
        raise IndexMismatchError(f"{home} was built for {folder.identity}, not for {identity}")
    return opened(catalog, folder)


def _replace(catalog: Catalog, home: Path, identity: Facts) -> None:
    """Build beside ``home`` and move it into place, so that another process never sees a part of it."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{home.name}-", dir=home.parent, ignore_cleanup_errors=True) as room:
        fresh = Path(room, "fresh")
        _written(catalog, fresh, identity, workers=1, progress=None)
        if home.exists():
            os.rename(home, Path(room, "old"))
        os.rename(fresh, home)


def _first(size: int, rows: NDArray[np.int32] | None, k: int) -> NDArray[np.int32]:
    return np.arange(min(k, size), dtype=np.int32) if rows is None else np.sort(rows)[:k]
