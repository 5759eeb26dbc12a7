"""Search over one catalog: by words, or by price, rating and delivery; over all rows or those that pass filters.

A text search takes the nearest products by embedding and orders the first of them by how many of the query's words
they have, weighted by rarity. Everything is exact integer arithmetic with ties broken by row, so that a page is the
same on every machine, and the first results for k are the first of those for any larger k.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.array_store import read_arrays, write_arrays
from ecom_rlve.catalog.constraints import Constraint, Op, all_satisfied, satisfied
from ecom_rlve.catalog.embedders import LocalEmbedder, Projection, features_of
from ecom_rlve.catalog.errors import IndexMismatchError
from ecom_rlve.catalog.index import FlatIndex, VectorIndex, check_fingerprint, packed
from ecom_rlve.catalog.table import Catalog, Texts
from ecom_rlve.catalog.words import Bags, split_words

SortKey = Literal["price_asc", "rating_desc", "ship_days_asc"]
RERANK_DEPTH = 256
"""Nearest rows that are ordered by their words; the rest follows by embedding alone."""
_FORMAT = 2
"""Changes whenever the same catalog would give other arrays."""
_log = logging.getLogger(__name__)


class Search:
    """Ranks the products of a catalog. Safe to use from several threads."""

    def __init__(self, catalog: Catalog, bags: Bags, embedder: LocalEmbedder, index: VectorIndex) -> None:
        check_fingerprint(index, catalog.fingerprint)
        if index.size != catalog.size or bags.size != catalog.size:
            raise IndexMismatchError(f"the index holds {index.size} products, the catalog {catalog.size}")
        self.catalog = catalog
        self.bags, self.embedder, self.index = bags, embedder, index

    @classmethod
    def build(cls, catalog: Catalog) -> Search:
        """Fit the embedder on the catalog and index every product."""
        return cls._of(catalog, _built(catalog))

    @classmethod
    def open_or_build(cls, catalog: Catalog, cache_dir: Path | None) -> Search:
        """Open what was built before for this catalog under ``cache_dir``; build it where that is absent or damaged.

        What was built is kept there for the next start; a directory that cannot be written costs only that.
        """
        if cache_dir is None:
            return cls.build(catalog)
        identity = _identity(catalog)
        home = cache_dir / f"search-{catalog.fingerprint}"
        try:
            return cls._of(catalog, read_arrays(home, identity))
        except IndexMismatchError as error:
            _log.info("building the search index: %s", error)
        arrays = _built(catalog)
        try:
            write_arrays(home, identity, arrays)
        except OSError as error:
            _log.warning("the search index is not kept for the next start: %s", error)
        return cls._of(catalog, arrays)

    @classmethod
    def _of(cls, catalog: Catalog, arrays: dict[str, NDArray[Any]]) -> Search:
        try:
            words = Texts(arrays["word_blob"], arrays["word_offsets"])
            vocabulary = (words[number] for number in range(len(words)))
            bags = Bags(vocabulary, arrays["bag_offsets"], arrays["bag_numbers"], arrays["bag_telling"])
            embedder = LocalEmbedder(Projection(arrays["places"], arrays["rows"]), bags.number_of)
            index = FlatIndex(arrays["vectors"], catalog.fingerprint)
        except KeyError as error:
            raise IndexMismatchError(f"the index lacks the array {error}") from error
        return cls(catalog, bags, embedder, index)

    def rank(self, query: str, rows: NDArray[np.int32] | None, k: int) -> NDArray[np.int32]:
        """Return at most ``k`` of the different ``rows`` (None: all), the best match first, ties by row.

        A query without any known word or word part matches all equally: rows come in ascending order.
        """
        if k < 1:
            return np.zeros(0, dtype=np.int32)
        words = split_words(query)
        vector = self.embedder.encode(words)
        if not vector.any():
            return _first(self.catalog.size, rows, k)
        fetched = max(k, RERANK_DEPTH)
        index = self.index
        found = index.search(vector, fetched) if rows is None else index.search_subset(vector, rows, fetched)
        head = found[:RERANK_DEPTH]
        head = head[np.argsort(-self.bags.overlap(words, head), kind="stable")]
        return np.concatenate((head, found[RERANK_DEPTH:]))[:k]

    def order(self, key: SortKey, rows: NDArray[np.int32] | None, k: int) -> NDArray[np.int32]:
        """Return at most ``k`` of the different ``rows`` (None: all) sorted by ``key``, unknown last, ties by row.

        A price "from 12.99" is no known price.
        """
        everything, place = self._orders[key]
        if rows is None:
            return everything[: max(k, 0)]
        places = place[rows]
        if 0 < k < len(places):
            places = np.partition(places, k - 1)[:k]
        return everything[np.sort(places)[: max(k, 0)]]

    @cached_property
    def _orders(self) -> dict[SortKey, tuple[NDArray[np.int32], NDArray[np.int32]]]:
        """For each key all rows in order, and the place of each row in it."""
        return {
            "price_asc": _order(_known_prices(self.catalog)),
            "rating_desc": _order(-self.catalog.column("rating").values.astype(np.float64)),
            "ship_days_asc": _order(self.catalog.column("ship_days").values.astype(np.float64)),
        }


def passing_rows(catalog: Catalog, constraints: Sequence[Constraint]) -> NDArray[np.int32] | None:
    """Return the rows that meet every constraint, ascending; None where there is no constraint."""
    if not constraints:
        return None
    lists = [(_posting_list(catalog, constraint), place) for place, constraint in enumerate(constraints)]
    known = [(len(rows), place, rows) for rows, place in lists if rows is not None]
    if known:
        _, first, rows = min(known, key=lambda entry: entry[:2])
    else:
        first = 0
        rows = np.flatnonzero(satisfied(catalog, constraints[0], slice(None))).astype(np.int32)
    return all_satisfied(catalog, (*constraints[:first], *constraints[first + 1 :]), rows)


def _posting_list(catalog: Catalog, constraint: Constraint) -> NDArray[np.int32] | None:
    """Return the rows of an equality on a coded column; None for any other constraint."""
    column = catalog.column(constraint.attribute)
    if constraint.op is not Op.EQ or column.vocabulary is None or not isinstance(constraint.value, str):
        return None
    code = column.encode(constraint.value)
    return column.postings.rows(-1 if code is None else int(code))


def _built(catalog: Catalog) -> dict[str, NDArray[Any]]:
    bags = Bags.collect(catalog)
    features = features_of(bags.number_of)
    embedder = LocalEmbedder.fit(bags, features)
    words = Texts.pack(bags.number_of)
    return {
        "word_blob": words.blob,
        "word_offsets": words.offsets,
        "bag_offsets": bags.offsets,
        "bag_numbers": bags.numbers,
        "bag_telling": bags.telling,
        "places": embedder.projection.places,
        "rows": embedder.projection.rows,
        "vectors": packed(embedder.embed(bags, features)),
    }


def _identity(catalog: Catalog) -> dict[str, str | int]:
    """Return all on which built arrays depend; libraries too, whose next version may fit otherwise."""
    libraries = {name: version(name) for name in ("faiss-cpu", "numpy", "scipy", "scikit-learn")}
    return {"catalog": catalog.fingerprint, "format": _FORMAT, **libraries}


def _first(size: int, rows: NDArray[np.int32] | None, k: int) -> NDArray[np.int32]:
    return np.arange(min(k, size), dtype=np.int32) if rows is None else np.sort(rows)[:k]


def _known_prices(catalog: Catalog) -> NDArray[np.float64]:
    prices = catalog.column("price")
    values = prices.values.astype(np.float64)
    return values if prices.is_floor is None else np.where(prices.is_floor, np.nan, values)


def _order(keys: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    rows = np.argsort(keys, kind="stable").astype(np.int32)  # NaN, unknown, sorts last.
    place = np.empty_like(rows)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    return rows, place
