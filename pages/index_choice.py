"""Measures the indexes of `docs/scale.md`: `python pages/index_choice.py [PRODUCTS ...]`.

The vectors are those of the procedural catalog with 50,000 products. For more products each vector is one of these with
noise added, because a larger catalog takes long to generate. Queries are a few words of a title. Times are CPU time of
one thread.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import faiss
import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.search.bags import read_bags
from ecom_rlve.catalog.synthetic.shelf import synthetic_catalog
from ecom_rlve.catalog.vectors.embedders import LocalEmbedder, embedded
from ecom_rlve.catalog.vectors.index import FlatIndex, VectorIndex, flat_index
from ecom_rlve.catalog.vectors.inverted_index import InvertedIndex, clustered, inverted_lists
from ecom_rlve.catalog.vectors.recall import FIRST, probes_for, queries_from_titles, recall_of
from ecom_rlve.catalog.vectors.scaling import scaled
from ecom_rlve.streams import stream

SIZES = (10_000, 100_000, 200_000, 500_000, 2_000_000)
BASE = 50_000
NOISE = 1.5
"""Standard deviation of the noise on each element."""
DEPTH = 256
"""Number of rows that a search fetches."""
FILTERS = {"none": None, "1 %": 100, "10 %": 10, "50 %": 2}
Result = TypeVar("Result")


def shelf() -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return the products' vectors and those of the queries."""
    catalog = synthetic_catalog(BASE)
    bags = read_bags(catalog)
    embedder = LocalEmbedder.fit(bags)
    words = np.empty((len(bags.vocabulary), embedder.dimensions), dtype=np.int32)
    embedder.write_word_vectors(words)
    queries = [embedder.encode(query) for query in queries_from_titles(catalog)]
    return embedded(bags, words, 0, BASE), np.array([query for query in queries if query.any()])


def grown(vectors: NDArray[np.int8], size: int) -> NDArray[np.int8]:
    """Return ``size`` vectors: the given ones, then others like them."""
    rng = stream(0, "index choice", str(size))
    parts = [vectors[:size]]
    for start in range(len(vectors), size, BASE):
        some = vectors[rng.integers(len(vectors), size=min(BASE, size - start))].astype(np.float32)
        moved = (some + rng.normal(0, NOISE, some.shape)) * 1024
        parts.append(scaled(np.rint(moved).astype(np.int64)).astype(np.int8))
    return np.concatenate(parts)


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return a result and the seconds of processor time it took."""
    start = time.process_time()
    return work(), time.process_time() - start


def measure(name: str, index: VectorIndex, exact: FlatIndex, queries: NDArray[np.float32]) -> str:
    """Return the cells of one index: recall and time for each filter."""
    cells = []
    for step in FILTERS.values():
        rows = None if step is None else np.arange(0, index.size, step, dtype=np.int32)
        found, wanted, times = [], [], []
        for query in queries[:100]:
            if rows is None:
                some, seconds = timed(partial(index.search, query, DEPTH))
                wanted.append(exact.search(query, FIRST))
            else:
                some, seconds = timed(partial(index.search_subset, query, rows, DEPTH))
                wanted.append(exact.search_subset(query, rows, FIRST))
            found.append(some[:FIRST])
            times.append(seconds)
        cells.append(f"{recall_of(found, wanted):.3f} / {np.median(times) * 1e3:.2f}")
    return f"| {index.size:,} | {name} | {' | '.join(cells)}"


def main(sizes: list[int]) -> None:
    """Print the table."""
    vectors, queries = shelf()
    print(f"| products | index | {' | '.join(f'{name}: recall@20 / ms' for name in FILTERS)} | file MB | build s |")
    print(f"|---|---|{'---|' * (len(FILTERS) + 2)}")
    for size in sizes:
        some = grown(vectors, size)
        with tempfile.TemporaryDirectory() as room:
            files = [Path(room, name) for name in ("flat", "lists")]
            flat, seconds = timed(partial(flat_index, some))
            faiss.write_index(flat, os.fspath(files[0]))
            exact = FlatIndex(files[0], "")
            megabytes = [path.stat().st_size / 1e6 for path in files if path.exists()]
            print(f"{measure('flat', exact, exact, queries)} | {megabytes[0]:.0f} | {seconds:.1f} |", flush=True)
            (centroids, list_of_row), cluster_seconds = timed(partial(clustered, some, 1))
            lists, list_seconds = timed(partial(inverted_lists, some, len(centroids), list_of_row))
            faiss.write_index(lists, os.fspath(files[1]))
            index = InvertedIndex(files[1], exact, centroids, list_of_row, 1)
            probes_for(index, exact, queries)
            name = f"ivf{index.lists}, {index.probes} lists"
            seconds += cluster_seconds + list_seconds
            megabytes = [path.stat().st_size / 1e6 for path in files]
            print(f"{measure(name, index, exact, queries)} | {sum(megabytes):.0f} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or list(SIZES))
