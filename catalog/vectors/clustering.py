"""Spherical k-means over vectors of whole numbers, in integer arithmetic: the same on every machine.

Centroids have the length of the vectors and are rounded to whole numbers after each round. Inner products are then
exact in float32, in any order of summation. So the result depends on neither processor, BLAS nor number of threads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ecom_rlve.catalog.vectors.scaling import scaled
from ecom_rlve.streams import stream

_ROUNDS = 8
_PER_CENTROID = 40
"""Vectors in the sample for each centroid."""
_CHUNK = 4_096
"""Vectors compared with all centroids at a time."""


def centroids_of(vectors: NDArray[np.int8], count: int, threads: int) -> NDArray[np.int8]:
    """Return ``count`` centroids of a sample of the vectors, shape (count, dimensions)."""
    rng = stream(0, "index", "centroids")
    rows = np.sort(rng.choice(len(vectors), min(len(vectors), count * _PER_CENTROID), replace=False))
    sample = vectors[rows]
    centroids = sample[rng.choice(len(sample), count, replace=False)]
    for _ in range(_ROUNDS):
        centroids = _moved(centroids, sample, nearest(sample, centroids, threads))
    return centroids


def nearest(
    vectors: NDArray[np.int8],
    centroids: NDArray[np.int8],
    threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> NDArray[np.int32]:
    """Return for each vector the number of the centroid with the largest inner product, the first of equals."""
    found = np.empty(len(vectors), dtype=np.int32)
    targets = np.ascontiguousarray(centroids.T, dtype=np.float32)
    scores = np.empty((_CHUNK, len(centroids)), dtype=np.float32)
    with threadpool_limits(threads):
        for start in range(0, len(vectors), _CHUNK):
            some = vectors[start : start + _CHUNK].astype(np.float32)
            np.matmul(some, targets, out=scores[: len(some)])
            found[start : start + len(some)] = scores[: len(some)].argmax(axis=1)
            if progress is not None:
                progress(start + len(some), len(vectors))
    return found


def _moved(centroids: NDArray[np.int8], vectors: NDArray[np.int8], numbers: NDArray[np.int32]) -> NDArray[np.int8]:
    """Return the centroid of the vectors of each number; a centroid without vectors does not change."""
    order = np.argsort(numbers, kind="stable")
    used, starts = np.unique(numbers[order], return_index=True)
    sums = np.add.reduceat(vectors[order].astype(np.int64), starts, axis=0)
    moved = centroids.copy()
    moved[used] = scaled(sums)
    return moved
