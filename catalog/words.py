"""Texts as sets of words: what of a product is searched, and how many of a query's words a product has.

A product's text is its title, category, brand, attribute values and features. Prices and other numbers are left out:
a shopper bounds them, and bounds are filters. The value of the category's variant attribute is left out too, because
a product comes in several. Repeating a word changes nothing.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import extractOne

from ecom_rlve.catalog.attributes import DISCRETE
from ecom_rlve.catalog.table import Catalog

MAX_WORDS = 128
"""Different words of one text that count, the first ones; bounds every sum over a text's words."""
_WORD = re.compile(r"[^\W_]+")
_IDF_UNIT = 64
_MISSPELT_LETTERS = 4
"""A shorter word is never taken for a misspelling."""
_EDITS = 1
"""Letters inserted, dropped, replaced or swapped between a misspelt word and the one it stands for."""


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

    The first ``telling[r]`` of them come from its title, category, brand and attributes, the others from its features.
    """

    def __init__(
        self,
        vocabulary: Iterable[str],
        offsets: NDArray[np.int64],
        numbers: NDArray[np.int32],
        telling: NDArray[np.int32],
    ) -> None:
        self._words = tuple(vocabulary)
        self.number_of: Mapping[str, int] = {word: number for number, word in enumerate(self._words)}
        self.offsets, self.numbers, self.telling = offsets, numbers, telling
        self.size = len(offsets) - 1

    @classmethod
    def collect(cls, catalog: Catalog) -> Bags:
        """Read every product of a catalog."""
        reader = _Reader(catalog)
        numbers, offsets, telling = array("i"), array("q", [0]), array("i")
        for row in range(catalog.size):
            found = dict.fromkeys(reader.telling(row))
            telling.append(min(len(found), MAX_WORDS))
            found.update(dict.fromkeys(reader.features(row)))
            numbers.extend(islice(found, MAX_WORDS))
            offsets.append(len(numbers))
        return cls(
            reader.numbers,
            np.array(offsets, dtype=np.int64),
            np.array(numbers, dtype=np.int32),
            np.array(telling, dtype=np.int32),
        )

    @cached_property
    def document_frequency(self) -> NDArray[np.int64]:
        """Products that have each word, at least 1."""
        return np.asarray(np.bincount(self.numbers, minlength=len(self.number_of)), dtype=np.int64)

    @cached_property
    def _idf(self) -> NDArray[np.int64]:
        idf = np.log((1 + self.size) / (1 + self.document_frequency)) + 1
        return np.asarray(np.rint(idf * _IDF_UNIT), dtype=np.int64)

    @cached_property
    def _letter_marks(self) -> NDArray[np.uint64]:
        return np.array([_letter_mark(word) for word in self._words], dtype=np.uint64)

    def overlap(self, words: Iterable[str], rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return for each row the summed inverse document frequencies of those ``words`` that it has.

        A word that no product has stands for the most similar word of ``rows``, if one is similar enough.
        """
        starts = self.offsets[rows]
        lengths = self.offsets[rows + 1] - starts
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)
        numbers = self.numbers[places]
        wanted = [self.number_of[word] for word in words if word in self.number_of]
        wanted += self._similar([word for word in words if word not in self.number_of], numbers)
        weights = np.zeros(len(self.number_of), dtype=np.int64)
        weights[wanted] = self._idf[wanted]
        sums = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(weights[numbers])))
        return np.asarray(sums[ends] - sums[ends - lengths])

    def _similar(self, strange: list[str], numbers: NDArray[np.int32]) -> list[int]:
        """Return for each misspelt word the number of the one it may stand for, among ``numbers``; first of equals."""
        strange = [word for word in strange if len(word) >= _MISSPELT_LETTERS]
        if not strange:
            return []
        is_present = np.zeros(len(self._words), dtype=np.bool_)
        is_present[numbers] = True
        present = np.flatnonzero(is_present)
        # An edit adds or removes one letter, or replaces one: most words differ in more and need no comparison.
        marks = np.array([[_letter_mark(word)] for word in strange], dtype=np.uint64)
        is_near = np.bitwise_count(self._letter_marks[present] ^ marks) <= 2 * _EDITS
        found = []
        for word, row in zip(strange, is_near, strict=True):
            numbers_near = present[row].tolist()
            choices = [self._words[number] for number in numbers_near]
            match = extractOne(word, choices, scorer=OSA.distance, score_cutoff=_EDITS)
            if match is not None:
                found.append(numbers_near[match[2]])
        return found


def _letter_mark(word: str) -> int:
    """Return the set of a word's letters as 64 bits; different letters may share one."""
    mark = 0
    for letter in word:
        mark |= 1 << (ord(letter) & 63)
    return mark


class _Reader:
    """Turns rows into word numbers; a value that many products share is split once."""

    def __init__(self, catalog: Catalog) -> None:
        self.numbers: dict[str, int] = {}
        self._catalog = catalog
        columns = {name: catalog.column(name) for name in ("brand", *DISCRETE)}
        self._columns = [(name, column.values.tolist(), column.vocabulary or ()) for name, column in columns.items()]
        self._shared: dict[str, list[int]] = {}

    def telling(self, row: int) -> list[int]:
        """Return the word numbers of what identifies a product; may repeat."""
        category = self._catalog.category_of(row)
        found = self._number(self._catalog.titles[row])
        found += self._number_shared(category.singular)
        found += self._number_shared(category.name)
        for name, codes, vocabulary in self._columns:
            if codes[row] >= 0 and name != category.variant_attribute:
                found += self._number_shared(vocabulary[codes[row]])
        return found

    def features(self, row: int) -> list[int]:
        """Return the word numbers of a product's features; may repeat."""
        return [word for feature in self._catalog.features[row].split("\n") for word in self._number_shared(feature)]

    def _number(self, text: str) -> list[int]:
        return [self.numbers.setdefault(word, len(self.numbers)) for word in split_words(text)]

    def _number_shared(self, text: str) -> list[int]:
        known = self._shared.get(text)
        if known is None:
            known = self._shared[text] = self._number(text)
        return known
