"""Products that have a lookalike: another one of their kind that differs from them in one known fact only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.envs.world.shop import Shop

_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIXES = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))


def with_lookalike(shop: Shop, kind: str) -> NDArray[np.int32]:
    """Return the products of a leaf category that have a lookalike, ascending; found once for each category.

    Two products are lookalikes if they agree in all but one of brand, price and typed attributes; what is unknown of
    both is agreed on. The attribute in which they come in variants does not count.
    """
    return shop.cache.get(("lookalikes", kind), lambda: _found(shop, kind), lambda rows: rows.nbytes)


def _found(shop: Shop, kind: str) -> NDArray[np.int32]:
    aisle = shop.aisle(kind)
    own = shop.catalog.categories[shop.catalog.category_index[kind]].variant_attribute
    names = ("brand", "price", *(name for name in ATTRIBUTES if name != own))
    columns = [_bits(aisle.column(name).values[:]) for name in names]
    facts = [_mixed(bits, place) for place, bits in enumerate(columns) if (bits != bits[0]).any()]
    whole = np.add.reduce(facts) if facts else np.zeros(len(aisle), dtype=np.uint64)
    is_alike = np.zeros(len(aisle), dtype=np.bool_)
    for fact in facts:
        # Sums of hashes: without one fact, only products that agree in all others have equal ones.
        others = whole - fact
        ordered = np.sort(others)
        repeated = ordered[1:][ordered[1:] == ordered[:-1]]
        if len(repeated):
            places = np.searchsorted(repeated, others)
            is_alike |= repeated[np.minimum(places, len(repeated) - 1)] == others
    return aisle.rows[is_alike]


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return numbers that are equal for equal values, and for all unknown ones."""
    if values.dtype.kind == "f":
        return np.where(np.isnan(values), np.nan, values).astype(np.float64).view(np.uint64)
    return values.astype(np.int64).view(np.uint64)


def _mixed(bits: NDArray[np.uint64], place: int) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each value of the column at a place."""
    hashed: NDArray[np.uint64] = (bits + np.uint64(1 + (place << 32))) * _ODD
    for shift, factor in _MIXES:
        hashed = (hashed ^ (hashed >> shift)) * factor
    return hashed
