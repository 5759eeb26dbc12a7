"""Draws products that a customer could want."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.envs.tasks.cart.lookalikes import with_lookalike
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import Split

_TRIES = 64
_LEAST_ALIKE = 12
"""With fewer products that have a lookalike in a category, the same few would be wanted again and again."""


def eligible_row(
    shop: Shop, kind: str, rng: Generator, split: Split | None, least_stock: int, closeness: float = 0.0
) -> int | None:
    """Return a random product of a leaf category that could be wanted; None if 64 tries find none.

    It has at least ``least_stock`` units in stock, its title does not name a value of its category's variant attribute,
    and it belongs to ``split`` (None: any). With probability ``closeness`` it is one that has a lookalike, where there
    are a dozen of these and one of them can be wanted.
    """
    if rng.random() < closeness:
        alike = with_lookalike(shop, kind)
        row = _eligible(shop, alike, rng, split, least_stock) if len(alike) >= _LEAST_ALIKE else None
        if row is not None:
            return row
    return _eligible(shop, shop.catalog.rows_of_category(kind), rng, split, least_stock)


def _eligible(shop: Shop, rows: NDArray[np.int32], rng: Generator, split: Split | None, least_stock: int) -> int | None:
    stock = shop.catalog.column("stock").values
    for at in rng.integers(len(rows), size=_TRIES).tolist():
        row = int(rows[at])
        if stock[row] < least_stock or (split is not None and shop.split(row) != split):
            continue
        if not shop.names_variant(row):
            return row
    return None
