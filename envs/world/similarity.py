"""How similar two products of a category are: Gower similarity over its typed attributes and the price (SPEC §6).

For each attribute, equal words count 1 and different words 0; numbers count 1 − |difference| / range over the category.
The similarity is the mean over the attributes that the product compared *with* has. An attribute that the other product
lacks counts 0, because unknown values satisfy nothing. The category's variant attribute is left out.

All values are integers (cents, thousandths of a unit, millionths of similarity, rounded down), so that equal products
get equal numbers and no result depends on the order of a sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import DISCRETE, NUMERIC
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.envs.world.shop import Shop

MILLION = 10**6
_THOUSAND = 1000
_UNKNOWN = np.iinfo(np.int64).min

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Measures:
    """The attributes by which the products of one category are compared."""

    words: tuple[str, ...]
    """Discrete attributes that at least one product has."""
    ranges: Mapping[str, tuple[int, int]]
    """Lowest and highest value of each numeric attribute that at least one product has: price in cents, others in
    thousandths."""

    def shown(self) -> dict[str, Any]:
        """Return the attributes as search results show them, in the units of product cards."""
        scale = {"price": 100}
        ranges = {
            name: [low / scale.get(name, _THOUSAND), high / scale.get(name, _THOUSAND)]
            for name, (low, high) in self.ranges.items()
        }
        return {"attributes": list(self.words), "ranges": ranges}


def measures_of(shop: Shop, category: str) -> Measures:
    """Return the attributes by which a category's products are compared; made once per category."""
    return shop.derive(_measures, category)


def gower(shop: Shop, row: int, rows: NDArray[np.int32]) -> Ints:
    """Return for each of ``rows`` n times its similarity to the product ``row``, in millionths.

    n is the number of attributes that are compared, which is the same for all. The result of a product compared with
    itself is n · 1,000,000.
    """
    catalog = shop.catalog
    measures = measures_of(shop, catalog.category_of(row).name)
    total = np.zeros(len(rows), dtype=np.int64)
    for name in measures.words:
        codes = catalog.column(name).values
        if codes[row] >= 0:
            total += MILLION * (codes[rows] == codes[row])
    for name, (low, high) in measures.ranges.items():
        own = int(_whole(catalog, name, np.array([row]))[0])
        if own == _UNKNOWN:
            continue
        others = _whole(catalog, name, rows)
        known = others != _UNKNOWN
        apart = np.where(known, np.abs(np.where(known, others, own) - own), 0)
        alike = (high - low - apart) * MILLION // (high - low) if high > low else np.full(len(rows), MILLION)
        total += np.where(known, alike, 0)
    return total


def _measures(shop: Shop, category: str) -> Measures:
    catalog = shop.catalog
    rows = catalog.rows_of_category(category)
    variant = catalog.categories[catalog.category_index[category]].variant_attribute
    words = tuple(name for name in DISCRETE if name != variant and bool((catalog.column(name).values[rows] >= 0).any()))
    ranges = {}
    for name in ("price", *(name for name in NUMERIC if name != variant)):
        values = _whole(catalog, name, rows)
        known = values[values != _UNKNOWN]
        if len(known):
            ranges[name] = (int(known.min()), int(known.max()))
    return Measures(words, ranges)


def _whole(catalog: Catalog, name: str, rows: NDArray[Any]) -> Ints:
    """Return numbers as integers: cents, or thousandths of the unit. A price that is only a lower bound is unknown."""
    column = catalog.column(name)
    values = column.values[rows].astype(np.float64)
    if column.is_floor is not None:
        values = np.where(column.is_floor[rows], np.nan, values)
    known = ~np.isnan(values)
    scaled = np.rint(np.where(known, values, 0.0) * (1 if name == "price" else _THOUSAND)).astype(np.int64)
    return np.where(known, scaled, _UNKNOWN)
