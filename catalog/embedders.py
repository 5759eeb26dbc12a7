"""The local text embedder: fitted on the catalog, nothing to download, the same on every machine.

A word has features: itself and its character n-grams, hashed. A truncated SVD of the products' TF-IDF weighted features
gives every feature a row of the projection; a word's vector is the weighted sum of its features' rows and a text's
vector the sum of its words' vectors, scaled to one length.

The SVD is the only step in floating point that depends on how a machine orders its sums (about 1e-12 relative). Its
result is rounded to a coarse grid of integers, and everything after it is integer arithmetic or correctly rounded
(square root, division), so that rankings do not depend on processor, BLAS or thread count. Vectors hold integers in
float32: every inner product, and every partial sum of one, stays below 2**24 and is therefore exact in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import floor, log2, sqrt
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.preprocessing import normalize  # type: ignore[import-untyped]
from sklearn.utils.extmath import randomized_svd  # type: ignore[import-untyped]
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from ecom_rlve.catalog.words import Bags
from ecom_rlve.streams import stream

DIMENSIONS = 192
LENGTH = 127
"""Euclidean length of every vector before its elements are rounded to integers, hence their bound."""
_WORD_BUCKETS = 2**15
_GRAM_BUCKETS = 2**15
_GRAM_SIZES = (3, 4, 5)
_GRAM_LETTERS = 32
"""Letters of a word that are read for n-grams."""
_WORD_WEIGHT = 16
"""Weight of a word beside its n-grams, whose weights have about the same Euclidean length."""
_TELLING_WEIGHT = 4
"""Weight of a word of a product's title, category, brand or attributes beside one of its features."""
_GRID = 255
"""Largest magnitude in the projection."""
_FIT_ENTRIES = 1_500_000
_FIT_PRODUCTS = 5_000
"""Bounds of the sample the SVD sees: non-zero features in all, and products."""
_SMALLEST_COMPONENT = 1e-3
"""Components below this share of the largest singular value carry rounding noise and are dropped."""
_CACHED_WORDS = 16_384
_CHUNK = 16_384


def gram_features(word: str) -> tuple[list[int], int]:
    """Return the buckets of a word's character n-grams (with repetitions) and the integer weight each of them has."""
    marked = f"<{word[:_GRAM_LETTERS]}>"
    grams = [marked[at : at + size] for size in _GRAM_SIZES for at in range(len(marked) - size + 1)]
    weight = max(1, round(_WORD_WEIGHT / sqrt(len(grams))))
    return [crc32(gram.encode()) % _GRAM_BUCKETS for gram in grams], weight


def word_feature(word: str) -> int:
    """Return the bucket of a whole word; word buckets come after those of n-grams."""
    return _GRAM_BUCKETS + crc32(word.encode()) % _WORD_BUCKETS


def features_of(words: Iterable[str]) -> csr_matrix:
    """Return the features of known words: integer weights, one row per word, one column per bucket."""
    buckets: list[int] = []
    weights: list[int] = []
    offsets = [0]
    for word in words:
        grams, weight = gram_features(word)
        buckets += (*grams, word_feature(word))
        weights += (*[weight] * len(grams), _WORD_WEIGHT)
        offsets.append(len(buckets))
    shape = (len(offsets) - 1, _GRAM_BUCKETS + _WORD_BUCKETS)
    matrix = csr_matrix((np.array(weights, dtype=np.int64), buckets, offsets), shape=shape)
    matrix.sum_duplicates()
    return matrix


@dataclass(frozen=True, eq=False)
class Projection:
    """Features to vectors: bucket ``b`` has the vector ``rows[places[b]]``; row 0 is zero, for buckets without one."""

    places: NDArray[np.int32]
    rows: NDArray[np.int16]

    def vectors(self, buckets: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the vectors of some buckets, shape (buckets, dimensions)."""
        return np.asarray(self.rows[self.places[buckets]], dtype=np.int64)

    def project(self, features: csr_matrix) -> NDArray[np.int64]:
        """Return ``features`` times the projection, shape (words, dimensions)."""
        used = np.flatnonzero(self.places)
        return np.asarray(features.tocsc()[:, used] @ self.vectors(used))


class LocalEmbedder:
    """Embeds products and queries; see the module's text."""

    def __init__(self, projection: Projection, vocabulary: Mapping[str, int]) -> None:
        self.projection = projection
        self.dimensions = int(projection.rows.shape[1])
        self._vocabulary = vocabulary
        self._vector_of = lru_cache(_CACHED_WORDS)(self._word_vector)

    @classmethod
    def fit(cls, bags: Bags, features: csr_matrix) -> LocalEmbedder:
        """Fit on the products' words; ``features`` are those of the vocabulary, in its order."""
        return cls(_fitted(bags, features), bags.number_of)

    def embed(self, bags: Bags, features: csr_matrix) -> NDArray[np.float32]:
        """Return the products' vectors, shape (products, dimensions)."""
        words = self.projection.project(features)
        vectors = np.empty((bags.size, self.dimensions), dtype=np.float32)
        for start in range(0, bags.size, _CHUNK):
            rows = np.arange(start, min(start + _CHUNK, bags.size))
            vectors[rows] = scaled(_incidence(bags, rows) @ words)
        return vectors

    def encode(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the vector of a query's different words, shape (dimensions,); zero where nothing is known.

        A word that no product has is read through its n-grams, so that a misspelt one lies near the right one.
        """
        total = np.zeros(self.dimensions, dtype=np.int64)
        for word in words:
            total += self._vector_of(word)
        return np.asarray(scaled(total[None])[0])

    def _word_vector(self, word: str) -> NDArray[np.int64]:
        grams, weight = gram_features(word)
        vector = weight * self.projection.vectors(grams).sum(axis=0)
        if word in self._vocabulary:
            vector += _WORD_WEIGHT * self.projection.vectors([word_feature(word)])[0]
        return np.asarray(vector)


def scaled(sums: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return integer rows brought to the length LENGTH and rounded to integers; zero rows stay zero.

    Exact up to one correctly rounded square root and division: with at most MAX_WORDS words the squares' sum
    stays below 2**63.
    """
    squares = np.einsum("ij,ij->i", sums, sums)
    lengths = np.sqrt(np.maximum(squares, 1).astype(np.float64))
    return np.asarray(np.rint(sums * LENGTH / lengths[:, None]), dtype=np.float32)


def _incidence(bags: Bags, rows: NDArray[np.int64]) -> csr_matrix:
    """Return the matrix of ``rows`` by vocabulary that weighs each word by where the product has it, as int64."""
    bounds = [(bags.offsets[row], bags.offsets[row + 1]) for row in rows]
    numbers = np.concatenate([bags.numbers[start:end] for start, end in bounds])
    lengths = np.array([end - start for start, end in bounds], dtype=np.int64)
    ends = np.cumsum(lengths)
    places = np.arange(len(numbers)) - np.repeat(ends - lengths, lengths)
    weights = np.where(places < np.repeat(bags.telling[rows], lengths), _TELLING_WEIGHT, 1)
    offsets = np.concatenate(([0], ends))
    return csr_matrix((weights.astype(np.int64), numbers, offsets), shape=(len(rows), len(bags.number_of)))


def _fitted(bags: Bags, features: csr_matrix) -> Projection:
    """Return the rounded projection; features outside the sample have no vector."""
    idf = _feature_idf(bags, features)
    sample = _incidence(bags, _sample_rows(bags, features)) @ features
    used = np.unique(sample.indices)
    places = np.zeros(features.shape[1], dtype=np.int32)
    if not used.size:
        return Projection(places, np.zeros((1, 1), dtype=np.int16))
    weighted = normalize(sample.tocsc()[:, used].tocsr().astype(np.float64).multiply(idf[used]).tocsr())
    count = min(DIMENSIONS, *weighted.shape)
    seed = int(stream(0, "embedder", "svd").integers(2**31))
    # flip_sign makes the signs canonical: the largest loading of each component is positive.
    # One thread: waiting for a second busy core costs more than it gives.
    with threadpool_limits(1):
        _, strengths, components = randomized_svd(
            weighted, count, n_iter=4, power_iteration_normalizer="LU", random_state=seed, flip_sign=True
        )
    kept = components[strengths > _SMALLEST_COMPONENT * strengths[0]] * idf[used]
    # A power of two scales without rounding, so the grid does not move with the last digit of the maximum.
    scale = 2.0 ** floor(log2(_GRID / np.abs(kept).max()))
    places[used] = np.arange(1, len(used) + 1)
    rows = np.zeros((len(used) + 1, len(kept)), dtype=np.int16)
    rows[1:] = np.rint(kept.T * scale)
    return Projection(places, rows)


def _feature_idf(bags: Bags, features: csr_matrix) -> NDArray[np.float64]:
    """Return each bucket's inverse document frequency, from an upper bound of its frequency: the sum over its words."""
    present = features.astype(bool).astype(np.int64)
    frequency = np.minimum(bags.size, present.T @ bags.document_frequency)
    return np.asarray(np.log((1 + bags.size) / (1 + frequency)) + 1)


def _sample_rows(bags: Bags, features: csr_matrix) -> NDArray[np.int64]:
    per_word = np.diff(features.indptr)
    per_product = per_word[bags.numbers].sum() / bags.size
    count = min(bags.size, _FIT_PRODUCTS, max(1, int(_FIT_ENTRIES / max(1.0, per_product))))
    return np.sort(stream(0, "embedder", "sample").choice(bags.size, size=count, replace=False))
