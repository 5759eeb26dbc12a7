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
from typing import NamedTuple

from ecom_rlve.catalog.currency import CatalogCurrency, chosen_currency
from ecom_rlve.catalog.kinds.leaf_names import audience_of, category_of, unique_names
from ecom_rlve.catalog.kinds.nouns import Leaf
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.catalog.rows.brands import one_spelling
from ecom_rlve.catalog.rows.reading import Reading
from ecom_rlve.catalog.rows.report import DropReason
from ecom_rlve.catalog.shop_words.attribute_words import spellings
from ecom_rlve.catalog.shop_words.variant_values import variant_values

MAX_TITLES = 2_000
"""The first titles of a leaf, so many, decide in which attribute its products come in variants."""
MOST_KEPT, LATER_TITLES = 400_000, 50
"""If so many titles of all leaves are kept, only the first fifty of each leaf are kept from there on, and none if twice
as many are: catalogs with ten thousand leaves would keep millions."""
_MANY = 0.2
"""From this share of products with variants of their own on, their attribute is the category's."""


class Spoken(NamedTuple):
    """What tells leaves apart in a catalog; those of all paths that agree in it are one."""

    plural: str
    audience: str

    @classmethod
    def of(cls, leaf: Leaf) -> Spoken:
        """Return it for a leaf."""
        return cls(leaf.plural, audience_of(leaf.path))


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
    names: Mapping[Spoken, Leaf]
    """The leaf to use for every leaf of a reading."""
    brands: Mapping[str, str]
    """The spelling to use by case-folded brand."""

    currency: CatalogCurrency
    """Which amounts are known."""

    def category(self, leaf: Leaf) -> str:
        """Return the name of the category of a leaf; empty where no reading of such a leaf was noted."""
        named = self.names.get(Spoken.of(leaf))
        return named.plural if named else ""

    def brand(self, spelled: str) -> str:
        """Return the spelling of a brand; empty where no reading of that brand was noted."""
        return self.brands.get(spelled.casefold(), "")

    def product(self, reading: Reading) -> Product:
        """Return a reading's product with its final category, brand and price; the reading must have been noted."""
        product, brand = reading.product, reading.product.brand
        currency = self.currency.of(product.currency)
        settled = replace(
            product,
            category=self.names[Spoken.of(reading.leaf)].plural,
            brand=self.brands[brand.casefold()] if brand else None,
            currency=currency,
        )
        if currency is not None and currency == self.currency.code:
            return settled
        # Amounts are never converted.
        variants = tuple(replace(variant, price_cents=None) for variant in product.variants)
        return replace(settled, price_cents=None, price_is_floor=False, price_high_cents=None, variants=variants)


class CatalogNotes:
    """Collects what :meth:`decisions` needs from the kept readings, in row order. Can be pickled."""

    def __init__(self) -> None:
        self._brands: Counter[str] = Counter()
        self._leaves: dict[Spoken, Leaf] = {}
        """The least of the leaves that agree: shops have paths without number, and names only so many."""
        self._titles: dict[Spoken, list[tuple[int, str]]] = {}
        """At most MAX_TITLES titles of every leaf, each with the number of its reading."""
        self._size, self._kept = 0, 0
        self._currencies: Counter[str] = Counter()
        """Products with a price by what they state of its currency, "" for nothing."""
        self._offered: dict[Spoken, Counter[str]] = {}
        """By leaf: its products ("") and those that come in variants of their own, by attribute."""

    def note(self, reading: Reading) -> None:
        """Note one more kept reading."""
        spoken = Spoken.of(reading.leaf)
        self._leaves[spoken] = min(reading.leaf, self._leaves.get(spoken, reading.leaf))
        titles = self._titles.setdefault(spoken, [])
        if len(titles) < self._room:
            titles.append((self._size, reading.product.title))
            self._kept += 1
        if reading.product.brand:
            self._brands[reading.product.brand] += 1
        counts = self._offered.setdefault(spoken, Counter())
        counts.update(("", *sorted({name for variant in reading.product.variants for name in variant.values})))
        if reading.product.price_cents is not None:
            self._currencies[reading.product.currency or ""] += 1
        self._size += 1

    @property
    def _room(self) -> int:
        """How many titles a leaf may have by now."""
        if self._kept < MOST_KEPT:
            return MAX_TITLES
        return LATER_TITLES if self._kept < 2 * MOST_KEPT else 0

    def decisions(self, currency: str | None = None, schema_currency: str | None = None) -> CatalogDecisions:
        """Give every leaf a name of its own, every brand one spelling, and the catalog a currency.

        Raises :class:`SourceError` where no product states one and none is given.
        """
        chosen = chosen_currency(self._currencies, currency, schema_currency)
        unique = unique_names(self._leaves.values())
        names = {spoken: unique[leaf] for spoken, leaf in self._leaves.items()}
        titles: dict[Leaf, list[list[tuple[int, str]]]] = {}
        for spoken, own in self._titles.items():
            titles.setdefault(names[spoken], []).append(own)
        offered: dict[Leaf, Counter[str]] = {}
        for spoken, counts in self._offered.items():
            offered.setdefault(names[spoken], Counter()).update(counts)
        categories = tuple(
            _in_own_variants(
                category_of(leaf, [title for _, title in islice(merge(*lists), MAX_TITLES)], _naming_words),
                offered[leaf],
            )
            for leaf, lists in titles.items()
        )
        return CatalogDecisions(categories, names, one_spelling(self._brands), chosen)


def _in_own_variants(category: Category, counts: Mapping[str, int]) -> Category:
    """Return the category with the attribute in which most of its products come in variants of their own, if many do.

    ``counts`` are its products by attribute, and all of them by "".
    """
    names = sorted((name for name in counts if name), key=lambda name: (-counts[name], name))
    if not names or counts[names[0]] < _MANY * counts[""]:
        return category
    return replace(category, variant_attribute=names[0])


def _naming_words(category: Category, attribute: str) -> Iterator[str]:
    """Yield the words that show a value of an attribute in a category."""
    yield from (value for value in variant_values(category, attribute) if isinstance(value, str))
    yield from spellings(attribute)
