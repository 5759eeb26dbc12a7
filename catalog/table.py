"""The columnar store of products: what every episode shares and none changes.

Text lies in UTF-8 blobs with offsets, everything else in numpy columns, so that a catalog can be memory-mapped and a
scan over a column is one vectorised operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import ATTRIBUTES, DISCRETE, NUMERIC
from ecom_rlve.catalog.errors import CatalogError, UnknownAttributeError, UnknownProductError
from ecom_rlve.catalog.product import Category, Product

UNKNOWN_CODE = -1
"""Marks an unknown value in a coded column."""


class Texts:
    """An immutable sequence of strings in one UTF-8 blob."""

    __slots__ = ("blob", "offsets")

    def __init__(self, blob: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.blob = blob
        self.offsets = offsets

    @classmethod
    def pack(cls, texts: Iterable[str]) -> Texts:
        """Return the texts packed; lone surrogates are replaced by ``?``."""
        encoded = [text.encode("utf-8", "replace") for text in texts]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> str:
        return self.blob[self.offsets[row] : self.offsets[row + 1]].tobytes().decode()


class Postings:
    """Rows grouped by code: ``rows(code)`` is an ascending int32 array, empty for a code that has none."""

    __slots__ = ("_offsets", "_order")

    def __init__(self, codes: NDArray[np.int32], size: int) -> None:
        known = np.flatnonzero(codes >= 0).astype(np.int32)
        self._order = known[np.argsort(codes[known], kind="stable")]
        self._offsets = np.zeros(size + 1, dtype=np.int64)
        np.cumsum(np.bincount(codes[known], minlength=size), out=self._offsets[1:])

    def rows(self, code: int) -> NDArray[np.int32]:
        """Return the rows that have ``code``."""
        if not 0 <= code < len(self._offsets) - 1:
            return self._order[:0]
        return self._order[self._offsets[code] : self._offsets[code + 1]]


@dataclass(frozen=True, eq=False)
class Column:
    """One filterable column: numbers with NaN for unknown, or codes into ``vocabulary`` with -1 for unknown."""

    values: NDArray[np.int32] | NDArray[np.float64] | NDArray[np.int64]
    vocabulary: tuple[str, ...] | None = None
    is_floor: NDArray[np.bool_] | None = None
    """Where set, the value is only a lower bound (prices "from")."""

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {value.casefold(): code for code, value in enumerate(self.vocabulary or ())}

    def encode(self, value: str | float) -> float | None:
        """Return the value as this column stores it; None where no product can have it."""
        if self.vocabulary is None:
            return None if isinstance(value, str) else value
        return self._codes.get(value.casefold()) if isinstance(value, str) else None

    @cached_property
    def postings(self) -> Postings:
        """Rows by code (coded columns only)."""
        return Postings(self.values.astype(np.int32), len(self.vocabulary or ()))


class Catalog:
    """An immutable set of products in columns. ``row`` is a product's position, 0 to ``size`` - 1."""

    def __init__(
        self,
        *,
        categories: Sequence[Category],
        ids: Texts,
        titles: Texts,
        descriptions: Texts,
        features: Texts,
        stores: Texts,
        columns: dict[str, Column],
        rating_count: NDArray[np.int32],
    ) -> None:
        if not len(ids):
            raise CatalogError("a catalog needs at least one product")
        self.categories = tuple(categories)
        self.ids, self.titles, self.descriptions = ids, titles, descriptions
        self.features, self.stores = features, stores
        self.rating_count = rating_count
        self._columns = columns
        self.size = len(ids)
        self.category_codes = columns["category"].values
        self.category_index = {category.name: code for code, category in enumerate(self.categories)}
        hashes = np.fromiter((_id_hash(ids[row]) for row in range(self.size)), dtype=np.uint64, count=self.size)
        self._hash_order = np.argsort(hashes, kind="stable").astype(np.int32)
        self._hashes = hashes[self._hash_order]

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
        unknown = {name for product in rows for name in product.attributes} - ATTRIBUTES.keys()
        if unknown:
            raise CatalogError(f"products have attributes that no column holds: {sorted(unknown)}")
        return cls(
            categories=kinds,
            ids=Texts.pack(product.id for product in rows),
            titles=Texts.pack(product.title for product in rows),
            descriptions=Texts.pack(product.description for product in rows),
            features=Texts.pack("\n".join(product.features) for product in rows),
            stores=Texts.pack(product.store or "" for product in rows),
            columns=_columns(rows, names),
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
        column = self.column(name)
        stored = column.values.item(row)
        if column.vocabulary is not None:
            return None if stored < 0 else column.vocabulary[int(stored)]
        return None if stored != stored or stored == UNKNOWN_CODE else stored

    def row_of(self, product_id: str) -> int:
        """Return the row of a product id; raises :class:`UnknownProductError`."""
        at = int(np.searchsorted(self._hashes, np.uint64(_id_hash(product_id))))
        while at < self.size and self._hashes[at] == _id_hash(product_id):
            row = int(self._hash_order[at])
            if self.ids[row] == product_id:
                return row
            at += 1
        raise UnknownProductError(f"no product has the id {product_id!r}")

    def product(self, row: int) -> Product:
        """Return one product as a record."""
        price, brand, rating = (self.value(row, name) for name in ("price", "brand", "rating"))
        known = {name: self.value(row, name) for name in ATTRIBUTES}
        floors = self._columns["price"].is_floor
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
            rating=rating if isinstance(rating, float) else None,
            rating_count=int(self.rating_count[row]),
            ship_days=int(self._columns["ship_days"].values[row]),
            stock=int(self._columns["stock"].values[row]),
            attributes={name: value for name, value in known.items() if value is not None},
        )

    @cached_property
    def fingerprint(self) -> str:
        """32 hex digits that differ wherever any product or category differs."""
        hasher = blake2b(repr(self.categories).encode(), digest_size=16)
        for texts in (self.ids, self.titles, self.descriptions, self.features, self.stores):
            hasher.update(texts.blob.tobytes())
            hasher.update(texts.offsets.tobytes())
        for name in sorted(self._columns):
            column = self._columns[name]
            hasher.update(repr((name, column.vocabulary)).encode())
            hasher.update(column.values.tobytes())
            hasher.update(b"" if column.is_floor is None else column.is_floor.tobytes())
        hasher.update(self.rating_count.tobytes())
        return hasher.hexdigest()


def _id_hash(product_id: str) -> int:
    return int.from_bytes(blake2b(product_id.encode("utf-8", "replace"), digest_size=8).digest(), "little")


def _coded(values: Sequence[str | None], vocabulary: Sequence[str] | None = None) -> Column:
    known = tuple(vocabulary) if vocabulary is not None else tuple(sorted({value for value in values if value}))
    codes = {value: code for code, value in enumerate(known)}
    return Column(np.array([codes.get(value or "", UNKNOWN_CODE) for value in values], dtype=np.int32), known)


def _numeric(values: Iterable[float | None]) -> Column:
    return Column(np.array([np.nan if value is None else value for value in values], dtype=np.float64))


def _columns(rows: Sequence[Product], categories: Sequence[str]) -> dict[str, Column]:
    columns = {
        "category": _coded([product.category for product in rows], categories),
        "brand": _coded([product.brand for product in rows]),
        "price": Column(
            _numeric(product.price_cents for product in rows).values,
            is_floor=np.array([product.price_is_floor for product in rows], dtype=np.bool_),
        ),
        "rating": _numeric(product.rating for product in rows),
        "ship_days": Column(np.array([product.ship_days for product in rows], dtype=np.int32)),
        "stock": Column(np.array([product.stock for product in rows], dtype=np.int32)),
    }
    for name in DISCRETE:
        columns[name] = _coded([_word(product, name) for product in rows])
    for name in NUMERIC:
        columns[name] = _numeric(_number(product, name) for product in rows)
    return columns


def _word(product: Product, name: str) -> str | None:
    value = product.attributes.get(name)
    if value is not None and not isinstance(value, str):
        raise CatalogError(f"{name} of product {product.id} should be a word, not {value!r}")
    return value


def _number(product: Product, name: str) -> float | None:
    value = product.attributes.get(name)
    if isinstance(value, str):
        raise CatalogError(f"{name} of product {product.id} should be a number, not {value!r}")
    return value
