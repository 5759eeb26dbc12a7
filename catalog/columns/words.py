"""Texts as sets of words: how many of a query's words a product has.

Repeated words count once. :mod:`ecom_rlve.catalog.search.bags` says which texts of a product are read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import extractOne

from ecom_rlve.catalog.columns.vocabulary import Vocabulary, letter_mark

MAX_WORDS = 128
"""Only so many different words of a text count, the first ones. This bounds every sum over a text's words."""
_WORD = re.compile(r"[^\W_]+")
_IDF_UNIT = 64
_FEW_WORDS = 1 << 16
"""In a vocabulary of at most so many words, an array over all of them is cheaper than looking up some of them."""
_MISSPELT_LETTERS = 4
"""Shorter words are never read as misspellings."""
_EDITS = 1
"""Most letters inserted, dropped, replaced or swapped in a misspelt word."""


def split_words(text: str) -> list[str]:
    """Return the different words of a text in order of appearance: case and accents folded, at most MAX_WORDS.

    >>> split_words("Crème brûlée-dish, CREME")
    ['creme', 'brulee', 'dish']
    """
    if not text.isascii():
        text = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return list(islice(dict.fromkeys(_WORD.findall(text.casefold())), MAX_WORDS))


class Bags:
    """The words of every product: row ``r`` has the word numbers ``numbers[offsets[r]:offsets[r + 1]]``.

    The first ``telling[r]`` of them come from its title, category, brand and attributes; the others from its features.
    """

    def __init__(self, vocabulary: Vocabulary, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take the arrays that :attr:`arrays` describes, which may be memory-mapped; ``KeyError`` if one is missing."""
        self.vocabulary = vocabulary
        self.offsets: NDArray[np.int64] = arrays["bag_offsets"]
        self.numbers: NDArray[np.int32] = arrays["bag_numbers"]
        self.telling: NDArray[np.int32] = arrays["bag_telling"]
        self.document_frequency: NDArray[np.int32] = arrays["word_frequency"]
        """How many products have each word among their first MAX_WORDS."""
        self._idf: NDArray[np.int32] = arrays["word_idf"]
        self.size = len(self.offsets) - 1

    @classmethod
    def of(
        cls,
        vocabulary: Vocabulary,
        offsets: NDArray[np.int64],
        numbers: NDArray[np.int32],
        telling: NDArray[np.int32],
    ) -> Bags:
        """Return the bags of rows whose words are known, and what follows from them."""
        frequency = np.bincount(numbers, minlength=len(vocabulary)).astype(np.int32)
        idf = np.log(len(offsets) / (1 + frequency.astype(np.int64))) + 1
        made = {
            "bag_offsets": offsets,
            "bag_numbers": numbers,
            "bag_telling": telling,
            "word_frequency": frequency,
            "word_idf": np.rint(idf * _IDF_UNIT).astype(np.int32),
        }
        return cls(vocabulary, made)

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All its arrays except for those of the vocabulary, by name."""
        return {
            "bag_offsets": self.offsets,
            "bag_numbers": self.numbers,
            "bag_telling": self.telling,
            "word_frequency": self.document_frequency,
            "word_idf": self._idf,
        }

    def gathered(self, rows: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return how many words each of ``rows`` has, and the numbers of all of them, row after row."""
        starts = self.offsets[rows]
        lengths = self.offsets[rows + 1] - starts
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)
        return lengths, self.numbers[places]

    def overlap(self, words: Iterable[str], rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return for each row the summed inverse document frequencies of those ``words`` that it has.

        A word that no product has counts as the most similar word of ``rows``, if one is similar enough.
        """
        lengths, numbers = self.gathered(rows)
        found = {word: self.vocabulary.number(word) for word in words}
        wanted = {number for number in found.values() if number is not None}
        wanted.update(self._similar([word for word, number in found.items() if number is None], numbers))
        if len(self.vocabulary) <= _FEW_WORDS:
            weights = np.zeros(len(self.vocabulary), dtype=np.int64)
            chosen = sorted(wanted)
            weights[chosen] = self._idf[chosen]
            sums, ends = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(weights[numbers]))), np.cumsum(lengths)
            return np.asarray(sums[ends] - sums[ends - lengths])
        owner = np.repeat(np.arange(len(rows)), lengths)
        sums = np.zeros(len(rows), dtype=np.int64)
        for number in sorted(wanted):
            # A row has each word once, so that no owner comes twice.
            sums[owner[np.flatnonzero(numbers == number)]] += self._idf[number]
        return sums

    def _present(self, numbers: NDArray[np.int32]) -> NDArray[np.intp] | NDArray[np.int32]:
        """Return the distinct word numbers, ascending."""
        if len(self.vocabulary) > _FEW_WORDS:
            return np.unique(numbers)
        is_present = np.zeros(len(self.vocabulary), dtype=np.bool_)
        is_present[numbers] = True
        return np.flatnonzero(is_present)

    def _similar(self, strange: list[str], numbers: NDArray[np.int32]) -> list[int]:
        """Return for each misspelt word the number of the likeliest word among ``numbers``, the first of equals."""
        strange = [word for word in strange if len(word) >= _MISSPELT_LETTERS]
        if not strange:
            return []
        present = self._present(numbers)
        # An edit adds, removes or replaces one letter. Most words differ in more letters and need no comparison.
        marks = np.array([[letter_mark(word)] for word in strange], dtype=np.uint64)
        is_near = np.bitwise_count(self.vocabulary.letter_marks[present] ^ marks) <= 2 * _EDITS
        found = []
        for word, row in zip(strange, is_near, strict=True):
            numbers_near = present[row].tolist()
            choices = [self.vocabulary.words[number] for number in numbers_near]
            match = extractOne(word, choices, scorer=OSA.distance, score_cutoff=_EDITS)
            if match is not None:
                found.append(numbers_near[match[2]])
        return found
