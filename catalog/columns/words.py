"""The words of every product, with how much each says about it: what BM25 needs, in whole numbers.

:mod:`ecom_rlve.catalog.search.bags` says which texts of a product are read and what a field weighs. A word's impact on
a product is the saturated weight of the fields that hold it, less in a product with many words; a product's score is
the sum over a query's words of impact times rarity (BM25F, https://doi.org/10.1561/1500000019). Repetitions within a
field do not count. Impacts and rarities are rounded once, when they are made, so that scores are exact everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA

from ecom_rlve.catalog.columns.vocabulary import Vocabulary, letter_mark

MOST_IMPACT = 255
_SATURATION = 1.2
_LENGTH_SHARE = 0.4
"""k1 and b of BM25: how soon more weight of a word adds little, and how much long texts are held back."""
WEIGHT_UNIT = 4
"""So much weight counts as one occurrence of a word."""
_RARITY_UNIT = 64
_FEW_WORDS = 1 << 16
"""In a vocabulary of at most so many words, an array over all of them is cheaper than looking up some of them."""
_MISSPELT_LETTERS = 4
"""Shorter words are never read as misspellings."""
_CACHED_WORDS = 1 << 14
"""So many misspelt words, whose similar words are remembered."""
_BLOCK = 1 << 16
"""Rows that are read at a time."""
_EDITS = 1
"""Most letters inserted, dropped, replaced or swapped in a misspelt word."""


class Sought(NamedTuple):
    """A query's words as numbers of the vocabulary."""

    weights: dict[int, int]
    """By number, what the words that some product has are worth: their rarity, shared within a group of readings."""
    strange: tuple[str, ...]
    """Those that none has."""


class Bags:
    """The words of every product: row ``r`` has the word numbers ``numbers[offsets[r]:offsets[r + 1]]``.

    The first ``telling[r]`` of them come from its title, category, brand and attributes; up to ``embedded[r]`` from its
    features; the others from its description.
    """

    def __init__(self, vocabulary: Vocabulary, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take the arrays that :attr:`arrays` describes, which may be memory-mapped; ``KeyError`` if one is missing."""
        self.vocabulary = vocabulary
        self._arrays = {name: arrays[name] for name in _ARRAYS}
        self.offsets: NDArray[np.int64] = arrays["bag_offsets"]
        self.numbers: NDArray[np.int32] = arrays["bag_numbers"]
        self.impacts: NDArray[np.uint8] = arrays["bag_impacts"]
        """How much each of ``numbers`` says about its product."""
        self.telling: NDArray[np.int32] = arrays["bag_telling"]
        self.embedded: NDArray[np.int32] = arrays["bag_embedded"]
        self.document_frequency: NDArray[np.int32] = arrays["word_frequency"]
        """How many products have each word."""
        self.rarity: NDArray[np.int32] = arrays["word_rarity"]
        """Inverse document frequency of each word, times 64."""
        self.size = len(self.offsets) - 1
        self._near_all = lru_cache(_CACHED_WORDS)(self._near)

    @classmethod
    def of(
        cls,
        vocabulary: Vocabulary,
        offsets: NDArray[np.int64],
        numbers: NDArray[np.int32],
        weights: NDArray[np.uint8],
        telling: NDArray[np.int32],
        embedded: NDArray[np.int32],
    ) -> Bags:
        """Return the bags of rows whose words and their weights are known, and what follows from them."""
        frequency = np.bincount(numbers, minlength=len(vocabulary)).astype(np.int32)
        rows, seen = len(offsets) - 1, frequency.astype(np.float64)
        rarity = np.log1p((rows - seen + 0.5) / (seen + 0.5))
        made = {
            "bag_offsets": offsets,
            "bag_numbers": numbers,
            "bag_impacts": _impacts(offsets, weights),
            "bag_telling": telling,
            "bag_embedded": embedded,
            "word_frequency": frequency,
            "word_rarity": np.maximum(1, np.rint(rarity * _RARITY_UNIT)).astype(np.int32),
        }
        return cls(vocabulary, made)

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """All its arrays except for those of the vocabulary, by name."""
        return self._arrays

    def places(self, rows: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many words each of ``rows`` has, and the places of all of them in ``numbers``, row after row."""
        # ``take`` costs half of what indexing does.
        starts = self.offsets.take(rows)
        lengths = self.offsets.take(rows + 1) - starts
        ends = np.cumsum(lengths)
        return lengths, np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)

    def sought(self, groups: Iterable[Sequence[str]]) -> Sought:
        """Return the numbers and weights of words; those of a group are several readings of one word."""
        weights: dict[int, int] = {}
        strange = []
        for group in groups:
            known = {word: self.vocabulary.number(word) for word in group}
            strange += [word for word, number in known.items() if number is None and len(group) == 1]
            for number in (number for number in known.values() if number is not None):
                weights.setdefault(number, max(1, int(self.rarity[number]) // len(group)))
        return Sought(weights, tuple(dict.fromkeys(strange)))

    def scores(self, sought: Sought, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return for each row the sum of impact times rarity of the ``sought`` words that it has.

        A word that no product has counts as the most similar word of ``rows``, if one is similar enough.
        """
        lengths, places = self.places(rows)
        numbers, impacts = self.numbers.take(places), self.impacts.take(places)
        weights = dict(sought.weights)
        for number in self._similar(sought.strange, numbers):
            weights.setdefault(number, int(self.rarity[number]))
        wanted = sorted(weights)
        ends = np.cumsum(lengths)
        if len(self.vocabulary) <= _FEW_WORDS:
            worth = np.zeros(len(self.vocabulary), dtype=np.int64)
            worth[wanted] = [weights[number] for number in wanted]
            sums = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(worth.take(numbers) * impacts)))
            return np.asarray(sums[ends] - sums[ends - lengths])
        scores = np.zeros(len(rows), dtype=np.int64)
        for number in wanted:
            hit = np.flatnonzero(numbers == number)
            # A row has each word once, so that no owner comes twice.
            scores[np.searchsorted(ends, hit, side="right")] += impacts[hit].astype(np.int64) * weights[number]
        return scores

    def _similar(self, strange: Sequence[str], numbers: NDArray[np.int32]) -> list[int]:
        """Return for each misspelt word the first word among ``numbers`` that is similar, if there is one."""
        strange = [word for word in strange if len(word) >= _MISSPELT_LETTERS and not word[0].isdigit()]
        if not strange:
            return []
        if len(self.vocabulary) > _FEW_WORDS:
            present = np.unique(numbers)
            near = [self._near(word, present) for word in strange]
        else:
            is_present = np.zeros(len(self.vocabulary), dtype=np.bool_)
            is_present[numbers] = True
            near = [[number for number in self._near_all(word) if is_present[number]] for word in strange]
        return [numbers_near[0] for numbers_near in near if numbers_near]

    def _near(self, word: str, among: NDArray[np.int32] | None = None) -> list[int]:
        """Return the numbers of the words that differ from ``word`` by one edit, ascending; only those ``among``."""
        marks = self.vocabulary.letter_marks if among is None else self.vocabulary.letter_marks[among]
        # An edit adds, removes or replaces one letter. Most words differ in more letters and need no comparison.
        at = np.flatnonzero(np.bitwise_count(marks ^ np.uint64(letter_mark(word))) <= 2 * _EDITS)
        numbers = (at if among is None else among[at]).tolist()
        words = self.vocabulary.words
        return [each for each in numbers if OSA.distance(word, words[each], score_cutoff=_EDITS) <= _EDITS]


_ARRAYS = (
    "bag_offsets", "bag_numbers", "bag_impacts", "bag_telling", "bag_embedded", "word_frequency", "word_rarity"
)  # fmt: skip


def _impacts(offsets: NDArray[np.int64], weights: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the impact of every word, 0 to MOST_IMPACT, from the weights of the fields that hold it."""
    lengths = np.diff(offsets)
    totals = np.concatenate([_sums(offsets[rows], weights) for rows in _blocks(len(lengths))] or [np.zeros(0)])
    mean = max(1.0, float(totals.sum()) / max(1, len(totals)))
    held_back = _SATURATION * WEIGHT_UNIT * (1 - _LENGTH_SHARE + _LENGTH_SHARE * totals / mean)
    made = np.empty(len(weights), dtype=np.uint8)
    for rows in _blocks(len(lengths)):
        bounds = offsets[rows]
        part = slice(int(bounds[0]), int(bounds[-1]))
        own = weights[part].astype(np.float64)
        made[part] = np.rint(MOST_IMPACT * own / (own + np.repeat(held_back[rows[:-1]], np.diff(bounds))))
    return made


def _blocks(rows: int) -> list[NDArray[np.int64]]:
    """Return all rows in blocks, each with the row that follows it: millions have a hundred million words."""
    return [np.arange(start, min(start + _BLOCK, rows) + 1) for start in range(0, rows, _BLOCK)]


def _sums(bounds: NDArray[np.int64], weights: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the sum of the weights between each two neighbouring bounds."""
    summed = np.cumsum(weights[bounds[0] : bounds[-1]], dtype=np.int64)
    before = np.concatenate((np.zeros(1, dtype=np.int64), summed))[bounds - bounds[0]]
    return np.asarray(np.diff(before), dtype=np.float64)
