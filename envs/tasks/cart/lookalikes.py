"""Products that have a lookalike: another one of their kind that differs from them in one known fact only."""

from __future__ import annotations

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
    facts = [_mixed(aisle.column(name).values[:], place) for place, name in enumerate(names)]
    whole = np.add.reduce(facts)
    is_alike = np.zeros(len(aisle), dtype=np.bool_)
    for fact in facts:
        # Sums of hashes: without one fact, only products that agree in all others have equal ones.
        _, group, sizes = np.unique(whole - fact, return_inverse=True, return_counts=True)
        is_alike |= sizes[group] > 1
    return aisle.rows[is_alike]


def _mixed(values: NDArray[np.generic], place: int) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each value of the column at a place, equal for equal values and for all unknown ones."""
    _, codes = np.unique(values, return_inverse=True)
    hashed: NDArray[np.uint64] = (codes.astype(np.uint64) + np.uint64(1 + (place << 32))) * _ODD
    for shift, factor in _MIXES:
        hashed = (hashed ^ (hashed >> shift)) * factor
    return hashed
