"""The local text embedder: it is fitted on the catalog, needs no download, and is the same on every machine.

The features of a word are the word itself and its character n-grams, hashed. A truncated SVD of the products' TF-IDF
weighted features gives every feature a row of the projection. A word's vector is the weighted sum of its features'
rows; a text's vector is the sum of its words' vectors, scaled to a fixed length.

The SVD is the only step in floating point that depends on how a machine orders its sums (about 1e-12 relative). Its
result is rounded to a coarse grid of integers. Everything after it is integer arithmetic or correctly rounded (square
root, division), so rankings do not depend on processor, BLAS or thread count. Vectors hold integers in float32: every
inner product, and every partial sum of one, is below 2**24 and therefore exact in any order.

What only a fit needs (scipy, scikit-learn, and all that these bring along, 100 MB in each process) is imported when
something is fitted: a server that opens a finished index never does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import floor, log2, sqrt
from typing import TYPE_CHECKING, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ecom_rlve.catalog.columns.vocabulary import Vocabulary
from ecom_rlve.catalog.columns.words import Bags
from ecom_rlve.catalog.shop_words.asking import read_query
from ecom_rlve.catalog.vectors.scaling import scaled
from ecom_rlve.streams import stream

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

DIMENSIONS = 192
# 2**16 features in all: the fit takes seven times as long with 2**18.
_WORD_BUCKETS = 2**15
_GRAM_BUCKETS = 2**15
_GRAM_SIZES = (3, 4, 5)
_GRAM_LETTERS = 32
"""N-grams are read from so many letters of a word."""
_WORD_WEIGHT = 16
"""Weight of the word itself among its features; the weights of its n-grams have about the same Euclidean length."""
_TELLING_WEIGHT = 4
"""Weight of a word of a product's title, category, brand or attributes; a word of its feature lines has 1."""
_GRID = 255
"""Largest magnitude in the projection."""
_FIT_ENTRIES = 1_500_000
_FIT_PRODUCTS = 5_000
"""Bounds of the sample that the SVD sees: number of non-zero features, and of products."""
_SMALLEST_COMPONENT = 1e-3
"""Components below this share of the largest singular value carry rounding noise and are dropped."""
# Their vectors take 12 MiB.
_CACHED_WORDS = 16_384
_CHUNK = 65_536
"""The features of so many words are held at a time."""


class QueryEmbedder(Protocol):
    """Turns a query into a vector. Safe to use from several threads."""

    dimensions: int

    def encode(self, query: str) -> NDArray[np.float32]:
        """Return the vector of a query: whole numbers from -127 to 127; all zero if no part of it is known."""


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
    from scipy.sparse import csr_matrix

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

    def __init__(self, projection: Projection, vocabulary: Vocabulary) -> None:
        self.projection = projection
        self.dimensions = int(projection.rows.shape[1])
        self._vocabulary = vocabulary
        self._vector_of = lru_cache(_CACHED_WORDS)(self._word_vector)

    @classmethod
    def fit(cls, bags: Bags) -> LocalEmbedder:
        """Fit on the products' words."""
        return cls(_fitted(bags), bags.vocabulary)

    def write_word_vectors(self, out: NDArray[np.int32]) -> None:
        """Write the vector of every word of the vocabulary, shape (words, dimensions)."""
        for start, features in _features_in_chunks(self._vocabulary):
            out[start : start + features.shape[0]] = self.projection.project(features)

    def encode(self, query: str) -> NDArray[np.float32]:
        """Return the vector of a query's different words, shape (dimensions,); zero where nothing is known.

        Of a word that no product has the n-grams count, so that a misspelt word lies near the right one.
        """
        total = np.zeros(self.dimensions, dtype=np.int64)
        for word in read_query(query).words:
            total += self._vector_of(word)
        return np.asarray(scaled(total[None])[0])

    def _word_vector(self, word: str) -> NDArray[np.int64]:
        grams, weight = gram_features(word)
        vector = weight * self.projection.vectors(grams).sum(axis=0)
        if word in self._vocabulary:
            vector += _WORD_WEIGHT * self.projection.vectors([word_feature(word)])[0]
        return np.asarray(vector)


def embedded(bags: Bags, word_vectors: NDArray[np.int32], start: int, stop: int) -> NDArray[np.int8]:
    """Return the vectors of a range of products from those of their words, shape (products, dimensions)."""
    from scipy.sparse import csr_matrix

    weights = _incidence(bags, np.arange(start, stop))
    words, places = np.unique(weights.indices, return_inverse=True)
    weights = csr_matrix((weights.data, places, weights.indptr), shape=(stop - start, len(words)))
    return scaled(weights @ word_vectors[words].astype(np.int64)).astype(np.int8)


def _features_in_chunks(vocabulary: Vocabulary) -> Iterator[tuple[int, csr_matrix]]:
    """Yield the features of all words, and the number of the first of each chunk."""
    words = iter(vocabulary)
    for start in range(0, len(vocabulary), _CHUNK):
        yield start, features_of(islice(words, _CHUNK))


def _incidence(bags: Bags, rows: NDArray[np.int64]) -> csr_matrix:
    """Return the matrix of ``rows`` by vocabulary, int64; a weight says where in the product's texts a word occurs.

    Words that only a description holds are left out: they are many, and most of them are talk.
    """
    from scipy.sparse import csr_matrix

    lengths, places = bags.places(rows)
    ends = np.cumsum(lengths)
    order = np.arange(len(places)) - np.repeat(ends - lengths, lengths)
    embedded = bags.embedded[rows].astype(np.int64)
    kept = order < np.repeat(embedded, lengths)
    weights = np.where(order < np.repeat(bags.telling[rows], lengths), _TELLING_WEIGHT, 1)[kept]
    offsets = np.concatenate(([0], np.cumsum(embedded)))
    numbers = bags.numbers[places[kept]]
    return csr_matrix((weights.astype(np.int64), numbers, offsets), shape=(len(rows), len(bags.vocabulary)))


def _fitted(bags: Bags) -> Projection:
    """Return the rounded projection; features outside the sample have no vector."""
    from scipy.sparse import csr_matrix
    from sklearn.preprocessing import normalize
    from sklearn.utils.extmath import randomized_svd

    idf, features_per_product = _feature_statistics(bags)
    sample = _sample(bags, features_per_product)
    used = np.unique(sample.indices)
    places = np.zeros(len(idf), dtype=np.int32)
    if not used.size:
        return Projection(places, np.zeros((1, 1), dtype=np.int16))
    seen: csr_matrix = sample.tocsc()[:, used].tocsr().astype(np.float64)
    weighted = normalize(csr_matrix(seen.multiply(idf[used])))
    count = min(DIMENSIONS, *weighted.shape)
    seed = int(stream(0, "embedder", "svd").integers(2**31))
    # flip_sign makes the signs canonical: the largest loading of each component is positive.
    # One thread: a second one on a busy core costs more time than it saves.
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


def _feature_statistics(bags: Bags) -> tuple[NDArray[np.float64], float]:
    """Return each bucket's inverse document frequency, and the mean number of features of a product's words.

    The frequency of a bucket is estimated by its upper bound, the sum over its words.
    """
    frequency = np.zeros(_GRAM_BUCKETS + _WORD_BUCKETS, dtype=np.int64)
    entries = 0
    for start, features in _features_in_chunks(bags.vocabulary):
        products = bags.document_frequency[start : start + features.shape[0]].astype(np.int64)
        frequency += features.astype(bool).astype(np.int64).T @ products
        entries += int(np.diff(features.indptr) @ products)
    idf = np.log((1 + bags.size) / (1 + np.minimum(bags.size, frequency))) + 1
    return np.asarray(idf), entries / bags.size


def _sample(bags: Bags, features_per_product: float) -> csr_matrix:
    """Return the products that the SVD sees by their features."""
    from scipy.sparse import csr_matrix

    count = min(bags.size, _FIT_PRODUCTS, max(1, int(_FIT_ENTRIES / max(1.0, features_per_product))))
    rows = np.sort(stream(0, "embedder", "sample").choice(bags.size, size=count, replace=False))
    weights = _incidence(bags, rows)
    numbers, places = np.unique(weights.indices, return_inverse=True)
    weights = csr_matrix((weights.data, places, weights.indptr), shape=(count, len(numbers)))
    sample: csr_matrix = weights @ features_of(bags.vocabulary.words[number] for number in numbers.tolist())
    return sample
