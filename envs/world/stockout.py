"""Which things of a kind sell out during the dialogue (SPEC §6): a coin for each decides, thrown before the goal.

A coin depends on the seed, the kind and the thing alone. So what sells out tells nothing about what is wanted.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.envs.world.variants import Variant
from ecom_rlve.envs.world.world import World

Rows = NDArray[np.int32]

_PURPOSE = "stock-out coins"


class ProductCoins:
    """The coins of the products of one leaf category. One falls with the probability of axis 4."""

    def __init__(self, world: World, category: str) -> None:
        self.category = category
        rows, p_oos = world.shop.aisle(category).rows, world.axes.p_oos
        self.fallen: Rows = rows[:0]
        """Products that sell out once they were shown; ascending."""
        if p_oos:
            self.fallen = rows[world.streams.stream(_PURPOSE, category).random(len(rows)) < p_oos]

    def standing(self, rows: Rows) -> Rows:
        """Return those of ``rows`` that do not sell out."""
        return rows[~self._have_fallen(rows)]

    def sell(self, world: World) -> None:
        """Let everything that was shown, whose coin has fallen and that is not in the cart, sell out."""
        if not len(self.fallen) or not world.shown:
            return
        shown = np.fromiter(world.shown, dtype=np.int32, count=len(world.shown))
        gone = shown[self._have_fallen(shown)].tolist()
        world.sold_out.update(row for row in gone if all(line.row != row for line in world.cart))

    def _have_fallen(self, rows: Rows) -> NDArray[np.bool_]:
        places = np.searchsorted(self.fallen, rows)
        found = np.zeros(len(rows), dtype=np.bool_)
        inside = places < len(self.fallen)
        found[inside] = self.fallen[places[inside]] == rows[inside]
        return found


def standing_variants(world: World, row: int) -> list[Variant]:
    """Return the variants of a product that are plentiful and do not sell out, in the order of their listing."""
    variants = world.variants(row)
    draws = world.streams.stream(_PURPOSE, world.shop.catalog.ids[row], "variants").random(len(variants)).tolist()
    stand = zip(variants, draws, strict=True)
    return [variant for variant, draw in stand if draw >= world.axes.p_oos and variant.is_plentiful]


def sell_variants(world: World, rows: Collection[int]) -> None:
    """Let the variants of the products that were read, whose coin has fallen and that are not in the cart, sell out."""
    if not world.axes.p_oos:
        return
    held = {line.variant.id for line in world.cart}
    for row in rows:
        if row in world.variants_read:
            standing = {variant.id for variant in standing_variants(world, row)}
            few = {variant.id for variant in world.variants(row) if not variant.is_plentiful}
            gone = [variant.id for variant in world.variants(row) if variant.id not in standing | few | held]
            world.sold_out_variants.update(gone)
