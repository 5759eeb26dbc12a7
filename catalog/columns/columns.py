"""Columns of a catalog: one array for each property; columns of words can also list the rows of each word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import DISCRETE, NUMERIC
from ecom_rlve.catalog.columns.texts import Words
from ecom_rlve.catalog.errors import CatalogError
from ecom_rlve.catalog.product import Product

UNKNOWN_CODE = -1
"""Marks an unknown value in a coded column."""
CODED: tuple[str, ...] = ("category", "brand", "currency", *DISCRETE)
NUMBERS: tuple[str, ...] = ("price", "price_high", "rating", *NUMERIC)
COUNTS: tuple[str, ...] = ("ship_days", "stock")
"""Names of the columns of words, of numbers that may be unknown, and of whole numbers that are always known."""


class Postings:
    """Rows grouped by code: ``rows(code)`` is an ascending int32 array, empty for a code without rows."""

    __slots__ = ("order", "starts")

    def __init__(self, codes: NDArray[np.int32], size: int) -> None:
        known = np.flatnonzero(codes >= 0).astype(np.int32)
        self.order = known[np.argsort(codes[known], kind="stable")]
        """All rows that have a code, sorted by code and then by row."""
        self.starts = np.zeros(size + 1, dtype=np.int64)
        """Where the rows of each code begin in ``order``; the last entry is the end."""
        np.cumsum(np.bincount(codes[known], minlength=size), out=self.starts[1:])

    @classmethod
    def stored(cls, order: NDArray[np.int32], starts: NDArray[np.int64]) -> Postings:
        """Return a grouping that was made before."""
        made = cls.__new__(cls)
        made.order, made.starts = order, starts
        return made

    def rows(self, code: int) -> NDArray[np.int32]:
        """Return the rows that have ``code``."""
        if not 0 <= code < len(self.starts) - 1:
            return self.order[:0]
        return self.order[self.starts[code] : self.starts[code + 1]]


@dataclass(frozen=True, eq=False)
class Column:
    """One filterable column: numbers with NaN for unknown, or codes into ``vocabulary`` with -1 for unknown."""

    values: NDArray[np.int32] | NDArray[np.float64] | NDArray[np.int64]
    vocabulary: Sequence[str] | None = None
    is_floor: NDArray[np.bool_] | None = None
    """Where set, the value is only a lower bound (prices "from")."""
    grouped: Postings | None = None
    """Rows by code if they were stored; None = they are grouped when first needed."""

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {value.casefold(): code for code, value in enumerate(self.vocabulary or ())}

    @cached_property
    def _words(self) -> Words | None:
        """The vocabulary where it finds codes itself."""
        return self.vocabulary if isinstance(self.vocabulary, Words) else None

    def encode(self, value: str | float) -> float | None:
        """Return the value as this column stores it; None where no product can have it."""
        if self.vocabulary is None:
            return None if isinstance(value, str) else value
        if not isinstance(value, str):
            return None
        return self._codes.get(value.casefold()) if self._words is None else self._words.code_of(value)

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Say for each row whether its value is known."""
        return np.asarray(self.values >= 0 if self.vocabulary is not None else ~np.isnan(self.values))

    @cached_property
    def postings(self) -> Postings:
        """Rows by code (coded columns only)."""
        return self.grouped or Postings(self.values.astype(np.int32), len(self.vocabulary or ()))


def coded(values: Sequence[str | None], vocabulary: Sequence[str] | None = None) -> Column:
    """Return a column of words; the default vocabulary is the sorted set of the known words."""
    known = tuple(vocabulary) if vocabulary is not None else tuple(sorted({value for value in values if value}))
    codes = {value: code for code, value in enumerate(known)}
    return Column(np.array([codes.get(value or "", UNKNOWN_CODE) for value in values], dtype=np.int32), known)


def columns_of(rows: Sequence[Product], category: Column) -> dict[str, Column]:
    """Return all columns of some products; the caller chooses the codes of the categories."""
    columns = {
        "category": category,
        "brand": coded([product.brand for product in rows]),
        "currency": coded([product.currency for product in rows]),
        "price": Column(
            _numeric(product.price_cents for product in rows).values,
            is_floor=np.array([product.price_is_floor for product in rows], dtype=np.bool_),
        ),
        "price_high": _numeric(product.price_high_cents for product in rows),
        "rating": _numeric(product.rating for product in rows),
        "ship_days": Column(np.array([product.ship_days for product in rows], dtype=np.int32)),
        "stock": Column(np.array([product.stock for product in rows], dtype=np.int32)),
    }
    for name in DISCRETE:
        columns[name] = coded([_word(product, name) for product in rows])
    for name in NUMERIC:
        columns[name] = _numeric(_number(product, name) for product in rows)
    return columns


def _numeric(values: Iterable[float | None]) -> Column:
    return Column(np.array([np.nan if value is None else value for value in values], dtype=np.float64))


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
