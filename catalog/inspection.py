"""What a catalog holds: how much is known about its products, what they cost, and which kinds there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.columns.table import Catalog

PRICE_EDGES = (0, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""Lower ends of the price histogram's bins, in cents; the last one is open."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much is known of one property."""

    known: int
    """Products whose value is known."""
    distinct: int
    """Different values among them."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What is known about prices."""

    exact: int
    at_least: int
    range: int
    unknown: int
    """Products by kind of price; they add up to all."""
    histogram: tuple[int, ...]
    """Products whose price, or the lower end of it, lies in each bin of :data:`PRICE_EDGES`."""
    currencies: Mapping[str, int]
    """Products by the currency that the source states."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a catalog holds."""

    products: int
    fingerprint: str
    currency: str | None
    """Code of the currency of all known prices; None where no source stated one."""
    coverage: Mapping[str, Coverage]
    """How much is known of brand, rating, price and each typed attribute, by name."""
    prices: Prices
    departments: Mapping[str, int]
    """Products by department, the largest first."""
    leaves: Mapping[str, int]
    """Products by leaf category, the largest first."""
    sold_out: int
    """Products that are sold out from the start."""
    examples: tuple[Mapping[str, Any], ...]
    """Products, spread evenly over the catalog, with what each field was read from."""


def inspect(catalog: Catalog, examples: int = 3) -> Inspection:
    """Look at every column of a catalog, and at some of its products."""
    sizes = np.bincount(catalog.category_codes, minlength=len(catalog.categories)).tolist()
    departments: dict[str, int] = {}
    for category, size in zip(catalog.categories, sizes, strict=True):
        departments[category.department] = departments.get(category.department, 0) + size
    leaves = {category.name: size for category, size in zip(catalog.categories, sizes, strict=True) if size}
    rows = np.unique(np.linspace(0, catalog.size - 1, max(examples, 0)).astype(np.int64)).tolist()
    return Inspection(
        products=catalog.size,
        fingerprint=catalog.fingerprint,
        currency=catalog.currency,
        coverage={name: _coverage(catalog, name) for name in ("brand", "rating", "price", *ATTRIBUTES)},
        prices=_prices(catalog),
        departments=_largest_first(departments),
        leaves=_largest_first(leaves),
        sold_out=int((catalog.column("stock").values == 0).sum()),
        examples=tuple(_example(catalog, row) for row in rows),
    )


def _coverage(catalog: Catalog, name: str) -> Coverage:
    column = catalog.column(name)
    known = column.values[column.is_known]
    return Coverage(len(known), len(np.unique(known)))


def _prices(catalog: Catalog) -> Prices:
    low, high = catalog.column("price"), catalog.column("price_high")
    is_range = low.is_known & high.is_known
    is_floor = low.is_known & ~is_range & (False if low.is_floor is None else low.is_floor)
    known = low.values[low.is_known]
    bins, _ = np.histogram(known, [*PRICE_EDGES, np.inf])
    currency = catalog.column("currency")
    counts = np.bincount(currency.values[currency.is_known], minlength=len(currency.vocabulary or ()))
    return Prices(
        exact=int(len(known) - is_range.sum() - is_floor.sum()),
        at_least=int(is_floor.sum()),
        range=int(is_range.sum()),
        unknown=int(catalog.size - len(known)),
        histogram=tuple(bins.tolist()),
        currencies=_largest_first(dict(zip(currency.vocabulary or (), counts.tolist(), strict=True))),
    )


def _largest_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _example(catalog: Catalog, row: int) -> dict[str, Any]:
    """Return the known values of a product."""
    return {name: value for name, value in asdict(catalog.product(row)).items() if value not in (None, "", (), {})}
