"""The shared part of every world: a catalog with its search, and data derived from them once."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.columns.aisle import Aisle
from ecom_rlve.catalog.columns.aisles import Aisles
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.columns.value_index import ValueIndex
from ecom_rlve.catalog.product import Category
from ecom_rlve.catalog.rows.report import MAX_BAD
from ecom_rlve.catalog.search.broad_filters import BroadFilters
from ecom_rlve.catalog.search.byte_cache import ByteCache
from ecom_rlve.catalog.search.search import Search
from ecom_rlve.catalog.shop_words.variant_values import variant_values
from ecom_rlve.catalog.sources import SourceReport, open_catalog
from ecom_rlve.catalog.store import is_store, open_store
from ecom_rlve.envs.language.frames import DEFAULT_BANK
from ecom_rlve.envs.splits import SMALL, dealt, split_of
from ecom_rlve.envs.world.cards import full_card, plain_card
from ecom_rlve.models import Split

CACHE_BYTES = 16 << 20
"""Memory for derived data such as offers by price and words of categories, in a process, however large the catalog."""
_CARDS = 16_384
_CATEGORIES = 4096
"""How many cards of each sort, and how many small results for categories, are cached."""
_AISLES = 256
_WORD_BYTES = 64
_TELLING = ("color", "material", "finish_type", "pattern", "connector_type", "scent", "flavor")
"""Attributes of which a single word is enough to tell the value."""

Derived = TypeVar("Derived")


class Shop:
    """A catalog, its search index and caches. Shared by all episodes of a process; caches do not change any result."""

    def __init__(
        self,
        catalog: Catalog,
        search: Search,
        report: SourceReport | None = None,
        aisles: Aisles | None = None,
    ) -> None:
        """Serve a catalog with its search; ``aisles`` are its columns by category, if they were stored."""
        self.catalog = catalog
        self.search = search
        self.report = report
        self.bank = DEFAULT_BANK
        """What customers can say."""
        self.aisles = aisles or Aisles(catalog)
        self.cache = ByteCache(CACHE_BYTES)
        self.broad_filters = BroadFilters()
        self.card = lru_cache(maxsize=_CARDS)(self._card)
        self.full_card = lru_cache(maxsize=_CARDS)(self._full_card)
        self.split = lru_cache(maxsize=_CARDS)(self._split)
        self.aisle = lru_cache(maxsize=_AISLES)(self._aisle)
        self.kinds = lru_cache(maxsize=64)(self._kinds)
        self.variant_pool = lru_cache(maxsize=_CATEGORIES)(self._variant_pool)
        self._derived: dict[tuple[Hashable, ...], Any] = {}

    @classmethod
    def open(
        cls,
        source: str,
        cache_dir: Path | None = None,
        *,
        currency: str | None = None,
        mapping: Path | None = None,
        max_bad: float = MAX_BAD,
    ) -> Shop:
        """Open a source of products (``synthetic[:SIZE[:SEED]]`` or a file) or the folder of a built catalog.

        The last three arguments are as for :func:`open_catalog`; a built catalog has them from its build.
        Raises ``SourceError`` and ``StoreError``.
        """
        if is_store(source):
            stored = open_store(Path(source))
            return cls(stored.catalog, stored.search(), stored.report, aisles=stored.aisles())
        catalog, report = open_catalog(source, currency=currency, mapping=mapping, max_bad=max_bad)
        return cls(catalog, Search.open_or_build(catalog, cache_dir), report)

    def derive(self, make: Callable[..., Derived], *key: Hashable) -> Derived:
        """Return ``make(shop, *key)``, a pure function of the shop and the key; made once per key."""
        at = (make, *key)
        if at not in self._derived:
            self._derived[at] = make(self, *key)
        made: Derived = self._derived[at]
        return made

    def _card(self, row: int, first: tuple[str, ...] = ()) -> Mapping[str, Any]:
        """Return a product's card, attributes in ``first`` before others; who adds to it must copy it before."""
        return plain_card(self.catalog, row, first)

    def _full_card(self, row: int, first: tuple[str, ...] = ()) -> Mapping[str, Any]:
        """Return a card that shows attributes before the whole title; likewise."""
        return full_card(self.catalog, row, first)

    def _kinds(self, least: int) -> tuple[str, ...]:
        """Return the kinds that hold at least ``least`` products, in name order."""
        categories = self.catalog.categories
        return tuple(categories[code].name for code in np.flatnonzero(self.kind_sizes >= least).tolist())

    @cached_property
    def kind_sizes(self) -> NDArray[np.int64]:
        """Number of products in each leaf category, in the order of the catalog's categories; 0 where it is no kind."""
        codes = self.catalog.category_codes
        sizes = np.bincount(codes, minlength=len(self.catalog.categories))
        return np.where(self.are_kinds, sizes, 0).astype(np.int64)

    @cached_property
    def are_kinds(self) -> NDArray[np.bool_]:
        """Whether each leaf category is a thing that one can want, in the order of the catalog's categories."""
        return np.array([category.is_kind for category in self.catalog.categories])

    def _aisle(self, category: str) -> Aisle:
        """Return the products of a leaf category, with their columns in contiguous memory."""
        return Aisle(self.aisles, category)

    def part(self, name: str, values: NDArray[Any], aisle: Aisle) -> NDArray[Any]:
        """Return an aisle's part of an array over all rows, which must not be written to.

        ``name`` identifies the array in the cache.
        """
        return self.cache.get((name, aisle.category), lambda: values[aisle.rows], lambda found: found.nbytes)

    def _split(self, row: int) -> Split:
        """Return the split in which a product may be a target."""
        title = self.catalog.titles[row]
        return self._dealt[title] if self._dealt else split_of(title)

    @cached_property
    def _dealt(self) -> Mapping[str, Split]:
        """The splits of a small shop's products by title; empty for a larger one."""
        catalog = self.catalog
        if catalog.size >= SMALL:
            return {}
        return dealt((catalog.category_of(row).name, catalog.titles[row]) for row in range(catalog.size))

    @cached_property
    def stated_words(self) -> frozenset[str]:
        """Words that state a fact of a product: values in small letters, and brands as they are written."""
        words = {word.casefold() for name in _TELLING for word in self.catalog.column(name).vocabulary or ()}
        return frozenset(words).union(self.catalog.column("brand").vocabulary or ())

    @cached_property
    def departments(self) -> tuple[str, ...]:
        """The departments of the catalog's kinds, in name order."""
        return tuple(sorted({category.department for category in self.catalog.categories if category.is_kind}))

    def names_variant(self, row: int) -> bool:
        """Tell whether a product's title names a value of its category's variant attribute, or of its own variants."""
        category = self.catalog.category_of(row)
        title = self.catalog.titles[row].casefold()
        stated = {str(value) for each in self.catalog.own_variants(row) for value in each.values.values()}
        if any(re.search(rf"(?<![\w'’]){re.escape(value.casefold())}(?!\w)", title) for value in sorted(stated)):
            return True
        own = self.catalog.value(row, category.variant_attribute)
        if own is not None and re.search(rf"(?<!\w){re.escape(str(own).casefold())}(?!\w)", title):
            return True
        return _title_pattern(category.variant_attribute, self.variant_pool(category)).search(title) is not None

    def words_in_category(self, category: str, attribute: str) -> tuple[str, ...]:
        """Return the casefolded words of a coded column's values in a category, in the order of the vocabulary."""
        return self.cache.get(
            ("words", category, attribute),
            lambda: self._words_in_category(category, attribute),
            lambda words: len(words) * _WORD_BYTES,
        )

    def _words_in_category(self, category: str, attribute: str) -> tuple[str, ...]:
        own = self.catalog.categories[self.catalog.category_index[category]]
        if attribute == own.variant_attribute:
            values: Sequence[str] = [str(value) for value in self.variant_pool(own)]
        else:
            column = self.catalog.column(attribute)
            codes = column.values[self.catalog.rows_of_category(category)]
            values = [(column.vocabulary or ())[code] for code in np.unique(codes[codes >= 0]).tolist()]
        return tuple(dict.fromkeys(part for value in values for part in value.casefold().split()))

    @cached_property
    def value_index(self) -> ValueIndex:
        """Finds the attribute that has a casefolded word or phrase as a value."""
        return ValueIndex(self.catalog)

    def _variant_pool(self, category: Category) -> tuple[str | float, ...]:
        """Return the values of the variants in which the products of a category come."""
        return variant_values(category, category.variant_attribute)

    @cached_property
    def variant_attributes(self) -> NDArray[np.str_]:
        """The attribute in which products come in variants; indexed by the code of their category."""
        return np.array([category.variant_attribute for category in self.catalog.categories])

    @cached_property
    def variant_words(self) -> Mapping[str, frozenset[str]]:
        """By variant attribute: all words that are variants of products in some category."""
        pools = {(category.variant_attribute, self._variant_pool(category)) for category in self.catalog.categories}
        found: dict[str, set[str]] = {name: set() for name, _ in pools}
        for name, values in pools:
            found[name].update(value for value in values if isinstance(value, str))
        return {name: frozenset(words) for name, words in found.items()}


@lru_cache(maxsize=1024)
def _title_pattern(attribute: str, values: tuple[str | float, ...]) -> re.Pattern[str]:
    """Return the pattern of titles that name one of an attribute's values."""
    unit = ATTRIBUTES[attribute].unit
    spelled = [f"{value:g} ?{unit}" if not isinstance(value, str) else re.escape(value) for value in values]
    return re.compile(rf"(?<!\w)(?:{'|'.join(spelled)})(?!\w)", re.IGNORECASE)
