"""Draws products that a customer could want."""

from __future__ import annotations

from numpy.random import Generator

from ecom_rlve.envs.splits import split_of
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import Split

_TRIES = 64


def eligible_row(shop: Shop, kind: str, rng: Generator, split: Split | None, least_stock: int) -> int | None:
    """Return a random product of a leaf category that could be wanted; None if 64 tries find none.

    It has at least ``least_stock`` units in stock, its title does not name a value of its category's variant attribute,
    and it belongs to ``split`` (None: any).
    """
    rows = shop.catalog.rows_of_category(kind)
    stock = shop.catalog.column("stock").values
    for at in rng.integers(len(rows), size=_TRIES).tolist():
        row = int(rows[at])
        if stock[row] < least_stock or (split is not None and split_of(shop.catalog.titles[row]) != split):
            continue
        if not shop.names_variant(row):
            return row
    return None
