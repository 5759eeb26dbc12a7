"""Which words of a product a search finds, and how much each field weighs.

The value of the category's variant attribute is left out, because a product is sold with several of them. So are
prices, for which shoppers set bounds, and bounds are filters.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import ATTRIBUTES, DISCRETE, NUMERIC
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.columns.vocabulary import Vocabulary
from ecom_rlve.catalog.columns.words import Bags
from ecom_rlve.catalog.search.forked import over_ranges, ranges
from ecom_rlve.catalog.shop_words.asking import is_stop_word
from ecom_rlve.catalog.shop_words.splitting import MAX_WORDS, split_words
from ecom_rlve.catalog.shop_words.things import marks_of_kind

_TITLE, _KIND, _BRAND, _ATTRIBUTE, _FEATURE, _DESCRIPTION = 8, 8, 6, 6, 2, 1
"""What a word in each field weighs; a word in several fields weighs their sum."""
_MOST_DESCRIBED = 2 * MAX_WORDS
"""Different words of a product with its description; as many as MAX_WORDS without."""
_CHUNK = 16_384
"""Rows that are read at a time."""


def read_bags(catalog: Catalog, workers: int = 1, progress: Callable[[int, int], None] | None = None) -> Bags:
    """Read the words of every product; words are numbered by first appearance, whatever the number of workers."""
    known: dict[str, int] = {}
    numbers, weights = array("i"), array("B")
    counts = array("i")
    parts = ranges(0, catalog.size, _CHUNK)
    read = over_ranges(lambda start, stop: _read(catalog, start, stop), parts, workers)
    for (_, stop), part in zip(parts, read, strict=True):
        renumbered = np.array([known.setdefault(word, len(known)) for word in part.words], dtype=np.int32)
        numbers.frombytes(renumbered[part.numbers].tobytes())
        weights.frombytes(part.weights.tobytes())
        counts.frombytes(part.counts.tobytes())
        if progress is not None:
            progress(stop, catalog.size)
    telling, embedded, lengths = np.frombuffer(counts, dtype=np.int32).reshape(-1, 3).T
    offsets = np.zeros(catalog.size + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Bags.of(
        Vocabulary.of(known),
        offsets,
        np.frombuffer(numbers, dtype=np.int32) if numbers else np.zeros(0, dtype=np.int32),
        np.frombuffer(weights, dtype=np.uint8) if weights else np.zeros(0, dtype=np.uint8),
        telling.copy(),
        embedded.copy(),
    )


class SearchedTexts(NamedTuple):
    """The texts of a product that a search reads."""

    title: str
    kind: tuple[str, str]
    """Singular and plural of its category; both empty where nobody can say what it is."""
    brand: str
    values: tuple[str, ...]
    """Of its attributes, numbers with their units."""
    features: tuple[str, ...]
    description: str


def searched_texts(catalog: Catalog, start: int, stop: int) -> Iterator[SearchedTexts]:
    """Yield the texts of each product of a range of rows."""
    columns = []
    for name in ("brand", *DISCRETE):
        column = catalog.column(name)
        columns.append((name, column.values[start:stop].tolist(), column.vocabulary or ()))
    (_, brands, brand_names), *attributes = columns
    measures = [(name, ATTRIBUTES[name].unit, catalog.column(name).values[start:stop].tolist()) for name in NUMERIC]
    for at, row in enumerate(range(start, stop)):
        category = catalog.category_of(row)
        yield SearchedTexts(
            catalog.titles[row],
            (category.singular, category.name) if category.is_kind else ("", ""),
            brand_names[brands[at]] if brands[at] >= 0 else "",
            (
                *(
                    vocabulary[codes[at]]
                    for name, codes, vocabulary in attributes
                    if codes[at] >= 0 and name != category.variant_attribute
                ),
                *(
                    f"{numbers[at]} {unit}"
                    for name, unit, numbers in measures
                    if numbers[at] == numbers[at] and name != category.variant_attribute
                ),
            ),
            tuple(catalog.features[row].split("\n")),
            catalog.descriptions[row],
        )


@dataclass(frozen=True)
class _Part:
    """The bags of some rows, with their own numbering."""

    words: list[str]
    numbers: NDArray[np.int32]
    weights: NDArray[np.uint8]
    counts: NDArray[np.int32]
    """Of each row: how many words tell what it is, how many there are without its description, and with it."""


class _Reader:
    """Numbers the words of texts."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self._shared: dict[str, tuple[int, ...]] = {}

    def numbers(self, text: str) -> tuple[int, ...]:
        known = self.known
        return tuple(
            [
                known.setdefault(word, len(known))
                for word in split_words(text, _MOST_DESCRIBED)
                if not is_stop_word(word)
            ]
        )

    def marks(self, kind: str) -> tuple[int, ...]:
        """Return the numbers of the marks of what a product is."""
        return tuple(self.known.setdefault(mark, len(self.known)) for mark in marks_of_kind(kind))

    def shared(self, text: str) -> tuple[int, ...]:
        """Split a text only once. Many products share texts; only titles and descriptions are their own."""
        found = self._shared.get(text)
        if found is None:
            found = self._shared[text] = self.numbers(text)
        return found


def _read(catalog: Catalog, start: int, stop: int) -> _Part:
    reader = _Reader()
    numbers, weights, counts = array("i"), array("B"), array("i")
    for texts in searched_texts(catalog, start, stop):
        found: dict[int, int] = {}
        _weigh(found, reader.numbers(texts.title), _TITLE)
        _weigh(found, dict.fromkeys(number for text in texts.kind for number in reader.shared(text)), _KIND)
        _weigh(found, reader.shared(texts.brand), _BRAND)
        _weigh(found, dict.fromkeys(number for text in texts.values for number in reader.shared(text)), _ATTRIBUTE)
        telling = min(len(found), MAX_WORDS)
        _weigh(found, dict.fromkeys(number for text in texts.features for number in reader.shared(text)), _FEATURE)
        embedded = min(len(found), MAX_WORDS)
        for number in list(found)[embedded:]:
            del found[number]
        _weigh(found, reader.marks(texts.kind[1]), _KIND)
        _weigh(found, reader.numbers(texts.description), _DESCRIPTION)
        numbers.extend(list(found)[:_MOST_DESCRIBED])
        weights.extend(list(found.values())[:_MOST_DESCRIBED])
        counts.extend((telling, embedded, min(len(found), _MOST_DESCRIBED)))
    return _Part(
        list(reader.known),
        np.array(numbers, dtype=np.int32),
        np.array(weights, dtype=np.uint8),
        np.array(counts, dtype=np.int32),
    )


def _weigh(found: dict[int, int], numbers: Iterable[int], weight: int) -> None:
    for number in numbers:
        found[number] = found.get(number, 0) + weight
