"""How many results of exact search an inverted file finds too, and how many lists it must scan for that."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.shop_words.splitting import split_words
from ecom_rlve.catalog.vectors.index import VectorIndex
from ecom_rlve.catalog.vectors.inverted_index import InvertedIndex
from ecom_rlve.streams import stream

FIRST = 20
"""The first so many results are compared."""
_QUERIES = 200
_MOST_WORDS = 6
_TARGET = 0.98
_PROBES = (192, 256, 384, 512, 768, 1024, 1536, 2048)
"""Numbers of lists to try. Queries made of titles need fewer than the least of them, but other queries may not."""


def queries_from_titles(catalog: Catalog) -> list[str]:
    """Return queries as shoppers type them: a few words of a title, in order."""
    rng = stream(0, "index", "queries")
    queries = []
    for row in rng.integers(catalog.size, size=_QUERIES).tolist():
        words = split_words(catalog.titles[row])
        count = min(len(words), int(rng.integers(2, _MOST_WORDS + 1)))
        queries.append(" ".join(words[at] for at in sorted(rng.permutation(len(words))[:count].tolist())))
    return queries


def recall_of(found: Sequence[NDArray[np.int32]], exact: Sequence[NDArray[np.int32]]) -> float:
    """Return the share of the exact results that were found, 0 to 1.

    >>> recall_of([np.array([3, 1])], [np.array([1, 2])])
    0.5
    """
    hits = sum(len(np.intersect1d(some, best)) for some, best in zip(found, exact, strict=True))
    return hits / max(1, sum(map(len, exact)))


def probes_for(index: InvertedIndex, exact: VectorIndex, queries: NDArray[np.float32]) -> tuple[int, float]:
    """Return how many lists a query must scan to reach the wanted recall among the first results, and that recall.

    Tries several numbers on the index, and leaves it set to the one returned.
    """
    known = queries[queries.any(axis=1)]
    wanted = [exact.search(query, FIRST) for query in known]
    share = 1.0
    for probes in _PROBES:
        index.probes = min(probes, index.lists)
        share = recall_of(index.search_many(known, FIRST), wanted) if len(known) else 1.0
        if share >= _TARGET or probes >= index.lists:
            break
    return index.probes, share
