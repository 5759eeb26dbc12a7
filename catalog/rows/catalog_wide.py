"""Decisions that need the whole catalog: duplicates, names of categories, spellings of brands.

Millions of rows can be read in other processes. One pass in row order notes them here, in little memory; a second pass
then makes the products.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from heapq import merge
from itertools import islice

from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.catalog.rows.brands import one_spelling
from ecom_rlve.catalog.rows.reading import Reading
from ecom_rlve.catalog.rows.report import DropReason
from ecom_rlve.catalog.rows.typed_attributes import spellings
from ecom_rlve.catalog.shop_words.leaf_categories import Leaf, category_of, unique_names
from ecom_rlve.catalog.shop_words.variant_values import variant_values

MAX_TITLES = 2_000
"""The first titles of a leaf, so many, decide in which attribute its products come in variants."""
MOST_KEPT, LATER_TITLES = 400_000, 50
"""If so many titles are kept for all leaves together, only the first fifty of each leaf are kept from there on: catalogs
with ten thousand leaves would keep millions."""


class Duplicates:
    """Finds rows that repeat an earlier one; remembers 16 bytes per id and per listing. Can be pickled."""

    def __init__(self) -> None:
        self._ids: set[bytes] = set()
        self._listings: set[bytes] = set()

    def reason(self, reading: Reading) -> DropReason | None:
        """Return why a reading repeats an earlier one; if it does not, remember it and return None."""
        product_id = blake2b(reading.product.id.encode(), digest_size=16).digest()
        if product_id in self._ids:
            return DropReason.DUPLICATE_ID
        if reading.listing in self._listings:
            return DropReason.DUPLICATE_LISTING
        self._ids.add(product_id)
        self._listings.add(reading.listing)
        return None


@dataclass(frozen=True, slots=True)
class CatalogDecisions:
    """The names and spellings chosen for a catalog."""

    categories: tuple[Category, ...]
    """In the order of their first products."""
    names: Mapping[Leaf, Leaf]
    """The leaf to use for every leaf of a reading."""
    brands: Mapping[str, str]
    """The spelling to use by case-folded brand."""

    def product(self, reading: Reading) -> Product:
        """Return a reading's product with its final category and brand; the reading must have been noted."""
        brand = reading.product.brand
        return replace(
            reading.product,
            category=self.names[reading.leaf].plural,
            brand=self.brands[brand.casefold()] if brand else None,
        )


class CatalogNotes:
    """Collects what :meth:`decisions` needs from the kept readings, in row order. Can be pickled."""

    def __init__(self) -> None:
        self._brands: Counter[str] = Counter()
        self._titles: dict[Leaf, list[tuple[int, str]]] = {}
        """At most MAX_TITLES titles of every leaf, each with the number of its reading."""
        self._size, self._kept = 0, 0

    def note(self, reading: Reading) -> None:
        """Note one more kept reading."""
        titles = self._titles.setdefault(reading.leaf, [])
        if len(titles) < (MAX_TITLES if self._kept < MOST_KEPT else LATER_TITLES):
            titles.append((self._size, reading.product.title))
            self._kept += 1
        if reading.product.brand:
            self._brands[reading.product.brand] += 1
        self._size += 1

    def decisions(self) -> CatalogDecisions:
        """Give every leaf a name of its own and every brand one spelling."""
        names = unique_names(self._titles)
        titles: dict[Leaf, list[list[tuple[int, str]]]] = {}
        for leaf, own in self._titles.items():
            titles.setdefault(names[leaf], []).append(own)
        categories = tuple(
            category_of(leaf, [title for _, title in islice(merge(*lists), MAX_TITLES)], _naming_words)
            for leaf, lists in titles.items()
        )
        return CatalogDecisions(categories, names, one_spelling(self._brands))


def _naming_words(category: Category, attribute: str) -> Iterator[str]:
    """Yield the words that show a value of an attribute in a category."""
    yield from (value for value in variant_values(category, attribute) if isinstance(value, str))
    yield from spellings(attribute)
