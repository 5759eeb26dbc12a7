"""Which words of a product a search finds: of its title, category, brand, attribute values and features.

Prices and other numbers are left out: shoppers set bounds for them, and bounds are filters. The value of the category's
variant attribute is left out too, because a product is sold with several of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import DISCRETE
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.columns.vocabulary import Vocabulary
from ecom_rlve.catalog.columns.words import MAX_WORDS, Bags, split_words
from ecom_rlve.catalog.search.forked import over_ranges, ranges

_CHUNK = 16_384
"""Rows that are read at a time."""


def read_bags(catalog: Catalog, workers: int = 1, progress: Callable[[int, int], None] | None = None) -> Bags:
    """Read the words of every product; words are numbered by first appearance, whatever the number of workers."""
    known: dict[str, int] = {}
    numbers, lengths, telling = array("i"), array("i"), array("i")
    parts = ranges(0, catalog.size, _CHUNK)
    read = over_ranges(lambda start, stop: _read(catalog, start, stop), parts, workers)
    for (_, stop), part in zip(parts, read, strict=True):
        renumbered = np.array([known.setdefault(word, len(known)) for word in part.words], dtype=np.int32)
        numbers.frombytes(renumbered[part.numbers].tobytes())
        lengths.frombytes(part.lengths.tobytes())
        telling.frombytes(part.telling.tobytes())
        if progress is not None:
            progress(stop, catalog.size)
    offsets = np.zeros(catalog.size + 1, dtype=np.int64)
    np.cumsum(np.frombuffer(lengths, dtype=np.int32), out=offsets[1:])
    found = np.frombuffer(numbers, dtype=np.int32) if numbers else np.zeros(0, dtype=np.int32)
    return Bags.of(Vocabulary.of(known), offsets, found, np.frombuffer(telling, dtype=np.int32))


def searched_texts(catalog: Catalog, start: int, stop: int) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the texts that identify each product of a range of rows, its title first, and the texts of its features."""
    columns = []
    for name in ("brand", *DISCRETE):
        column = catalog.column(name)
        columns.append((name, column.values[start:stop].tolist(), column.vocabulary or ()))
    for at, row in enumerate(range(start, stop)):
        category = catalog.category_of(row)
        telling = [catalog.titles[row], category.singular, category.name]
        for name, codes, vocabulary in columns:
            if codes[at] >= 0 and name != category.variant_attribute:
                telling.append(vocabulary[codes[at]])
        yield telling, catalog.features[row].split("\n")


@dataclass(frozen=True)
class _Part:
    """The bags of some rows, with their own numbering."""

    words: list[str]
    numbers: NDArray[np.int32]
    lengths: NDArray[np.int32]
    telling: NDArray[np.int32]


def _read(catalog: Catalog, start: int, stop: int) -> _Part:
    known: dict[str, int] = {}
    shared: dict[str, list[int]] = {}

    def numbered(text: str) -> list[int]:
        return [known.setdefault(word, len(known)) for word in split_words(text)]

    def numbered_once(text: str) -> list[int]:
        """Split a text only once. Many products share texts; only titles are their own."""
        found = shared.get(text)
        if found is None:
            found = shared[text] = numbered(text)
        return found

    numbers, lengths, telling = array("i"), array("i"), array("i")
    for (title, *values), features in searched_texts(catalog, start, stop):
        found = dict.fromkeys(numbered(title))
        for text in values:
            found.update(dict.fromkeys(numbered_once(text)))
        telling.append(min(len(found), MAX_WORDS))
        for text in features:
            found.update(dict.fromkeys(numbered_once(text)))
        numbers.extend(islice(found, MAX_WORDS))
        lengths.append(min(len(found), MAX_WORDS))
    as_array = [np.array(values, dtype=np.int32) for values in (numbers, lengths, telling)]
    return _Part(list(known), as_array[0], as_array[1], as_array[2])
