"""The products of a catalog in columns. All episodes share them, and none changes them.

Text is kept in UTF-8 blobs with offsets, everything else in numpy columns. So a catalog can be memory-mapped, and a
scan over a column is one vectorised operation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.columns.columns import UNKNOWN_CODE, Column, Postings, coded, columns_of
from ecom_rlve.catalog.columns.texts import HashIndex, Texts, text_digests
from ecom_rlve.catalog.errors import CatalogError, UnknownAttributeError, UnknownProductError
from ecom_rlve.catalog.product import Category, OwnVariant, Product

__all__ = ["UNKNOWN_CODE", "Catalog", "Column", "Postings", "Texts"]

TEXTS: tuple[str, ...] = ("ids", "titles", "descriptions", "features", "stores", "provenance", "variants")
"""Names of all texts of a product. Features are lines, provenance and the shop's own variants are compact JSON; all
three are empty if there are none."""
_LOOKED_AT = 1024
_LATER_COLUMNS = ("currency", "price_high")
"""Columns that a fingerprint leaves out if they are empty, so that older catalogs without them keep theirs."""


class Catalog:
    """An immutable set of products in columns. ``row`` is a product's position, 0 to ``size`` - 1."""

    def __init__(
        self,
        *,
        categories: Sequence[Category],
        texts: Mapping[str, Texts],
        columns: Mapping[str, Column],
        rating_count: NDArray[np.int32],
        id_index: HashIndex | None = None,
        fingerprint: str | None = None,
    ) -> None:
        """Hold arrays as a catalog.

        Args:
            categories: in the order of the category column's codes.
            texts: by each name of :data:`TEXTS`.
            columns: by each name of ``CODED``, ``NUMBERS`` and ``COUNTS``.
            rating_count: one number for each product.
            id_index: index of the ids, if it was stored; None = it is made here.
            fingerprint: that of this content, if it was stored; None = it is computed when first needed.
        """
        self.categories = tuple(categories)
        self.texts = dict(texts)
        self.ids, self.titles, self.descriptions = texts["ids"], texts["titles"], texts["descriptions"]
        self.features, self.stores, self.provenance = texts["features"], texts["stores"], texts["provenance"]
        self._variants = texts["variants"]
        self.rating_count = rating_count
        self.size = len(self.ids)
        if not self.size:
            raise CatalogError("a catalog needs at least one product")
        self._columns = dict(columns)
        self.category_codes = self._columns["category"].values
        self.category_index = {category.name: code for code, category in enumerate(self.categories)}
        self._id_index = id_index or HashIndex.of(text_digests(self.ids)[:, 0])
        self._fingerprint = fingerprint

    @classmethod
    def from_products(cls, products: Iterable[Product], categories: Iterable[Category]) -> Catalog:
        """Build a catalog in memory.

        Raises :class:`CatalogError` where two products share an id, a product's category is not listed or it has an
        attribute that :data:`ATTRIBUTES` does not know.
        """
        rows = list(products)
        kinds = sorted(categories, key=lambda category: category.name)
        names = tuple(category.name for category in kinds)
        if len({product.id for product in rows}) < len(rows):
            raise CatalogError("two products have the same id; drop duplicates before building a catalog")
        strange = {product.category for product in rows} - set(names)
        if strange:
            raise CatalogError(f"products name categories that are not listed: {sorted(strange)[:5]}")
        check_attributes(rows)
        return cls(
            categories=kinds,
            texts=texts_of(rows),
            columns=columns_of(rows, coded([product.category for product in rows], names)),
            rating_count=np.array([product.rating_count for product in rows], dtype=np.int32),
        )

    def column(self, name: str) -> Column:
        """Return the column ``name``: category, brand, price, rating, ship_days, stock or a typed attribute."""
        try:
            return self._columns[name]
        except KeyError:
            raise UnknownAttributeError(f"no column {name!r}; there are {sorted(self._columns)}") from None

    def rows_of_category(self, name: str) -> NDArray[np.int32]:
        """Return the rows of a leaf category, ascending; empty for a category that the catalog lacks."""
        return self._columns["category"].postings.rows(self.category_index.get(name, -1))

    def category_of(self, row: int) -> Category:
        """Return the leaf category of a product."""
        return self.categories[int(self.category_codes[row])]

    def value(self, row: int, name: str) -> str | float | None:
        """Return one product's value in one column, None where unknown."""
        return self.known(row, (name,)).get(name)

    def known(self, row: int, names: Iterable[str]) -> dict[str, str | float]:
        """Return one product's known values in some columns, in the order of ``names``."""
        found: dict[str, str | float] = {}
        for name in names:
            column = self._columns.get(name) or self.column(name)
            stored = column.values.item(row)
            if column.vocabulary is not None:
                if stored >= 0:
                    found[name] = column.vocabulary[int(stored)]
            elif stored == stored and stored != UNKNOWN_CODE:
                found[name] = stored
        return found

    def row_of(self, product_id: str) -> int:
        """Return the row of a product id; raises :class:`UnknownProductError`."""
        for row in self._id_index.candidates(product_id):
            if self.ids[row] == product_id:
                return row
        raise UnknownProductError(f"no product has the id {product_id!r}")

    def product(self, row: int) -> Product:
        """Return one product as a record."""
        brand, currency = (self.value(row, name) for name in ("brand", "currency"))
        price, price_high, rating = (self.value(row, name) for name in ("price", "price_high", "rating"))
        known = {name: self.value(row, name) for name in ATTRIBUTES}
        floors = self._columns["price"].is_floor
        provenance = self.provenance[row]
        return Product(
            id=self.ids[row],
            title=self.titles[row],
            category=self.category_of(row).name,
            description=self.descriptions[row],
            features=tuple(filter(None, self.features[row].split("\n"))),
            brand=brand if isinstance(brand, str) else None,
            store=self.stores[row] or None,
            price_cents=int(price) if isinstance(price, int | float) else None,
            price_is_floor=bool(floors is not None and floors[row]),
            price_high_cents=int(price_high) if isinstance(price_high, int | float) else None,
            currency=currency if isinstance(currency, str) else None,
            rating=rating if isinstance(rating, float) else None,
            rating_count=int(self.rating_count[row]),
            ship_days=int(self._columns["ship_days"].values[row]),
            stock=int(self._columns["stock"].values[row]),
            attributes={name: value for name, value in known.items() if value is not None},
            provenance=json.loads(provenance) if provenance else {},
            variants=self.own_variants(row),
        )

    def own_variants(self, row: int) -> tuple[OwnVariant, ...]:
        """Return the variants that the shop states of a product; their prices are known only if the product's is."""
        text = self._variants[row]
        variants = tuple(OwnVariant(*each) for each in json.loads(text)) if text else ()
        if variants and not self._columns["price"].is_known[row]:
            return tuple(replace(variant, price_cents=None) for variant in variants)
        return variants

    @cached_property
    def currency(self) -> str | None:
        """The code of the currency in which all known prices are; None where no source stated one."""
        column, prices = self._columns["currency"], self._columns["price"].values
        for code, word in enumerate(column.vocabulary or ()):
            rows = column.postings.rows(code)
            # Nearly always one of the first rows has a price, so that a mapped column is not read whole.
            if any((prices[rows[at : at + _LOOKED_AT]] >= 0).any() for at in range(0, len(rows), _LOOKED_AT)):
                return word
        return None

    @cached_property
    def fingerprint(self) -> str:
        """32 hex digits that are different if any product or category is different."""
        if self._fingerprint is not None:
            return self._fingerprint
        hasher = blake2b(repr(self.categories).encode(), digest_size=16)
        for texts in (self.ids, self.titles, self.descriptions, self.features, self.stores):
            hasher.update(texts.blob.data)
            hasher.update(texts.offsets.data)
        for name, column in self._fingerprinted():
            words = None if column.vocabulary is None else tuple(column.vocabulary)
            hasher.update(repr((name, words)).encode())
            hasher.update(column.values.data)
            hasher.update(b"" if column.is_floor is None else column.is_floor.data)
        hasher.update(self.rating_count.data)
        if len(self.provenance.blob):
            hasher.update(self.provenance.blob.data)
            hasher.update(self.provenance.offsets.data)
        if len(self._variants.blob):
            hasher.update(self._variants.blob.data)
            hasher.update(self._variants.offsets.data)
        return hasher.hexdigest()

    def _fingerprinted(self) -> Iterator[tuple[str, Column]]:
        for name in sorted(self._columns):
            column = self._columns[name]
            if name not in _LATER_COLUMNS or column.is_known.any():
                yield name, column


def check_attributes(rows: Iterable[Product]) -> None:
    """Raise :class:`CatalogError` where a product has an attribute that :data:`ATTRIBUTES` does not know."""
    unknown = {name for product in rows for name in product.attributes} - ATTRIBUTES.keys()
    if unknown:
        raise CatalogError(f"products have attributes that no column holds: {sorted(unknown)}")


def texts_of(rows: Sequence[Product]) -> dict[str, Texts]:
    """Return all texts of some products, by name."""
    return {
        "ids": Texts.pack(product.id for product in rows),
        "titles": Texts.pack(product.title for product in rows),
        "descriptions": Texts.pack(product.description for product in rows),
        "features": Texts.pack("\n".join(product.features) for product in rows),
        "stores": Texts.pack(product.store or "" for product in rows),
        "provenance": Texts.pack(_compact(product.provenance) for product in rows),
        "variants": Texts.pack(_packed(product.variants) for product in rows),
    }


def _compact(provenance: Mapping[str, str]) -> str:
    if not provenance:
        return ""
    return json.dumps(dict(provenance), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _packed(variants: Sequence[OwnVariant]) -> str:
    """Return variants as compact JSON: values, price and stock of each; empty if there are none."""
    if not variants:
        return ""
    each = [[dict(variant.values), variant.price_cents, variant.stock] for variant in variants]
    return json.dumps(each, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
