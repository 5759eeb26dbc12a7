"""Stock-outs of CART: what sells out, and what the customer takes instead (SPEC §6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from ecom_rlve.envs.errand import Change, Intent, Stockout
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind, Fact, Mention
from ecom_rlve.envs.tasks.cart.goal import MOST_UNITS, CartGoal, WantedItem, variant_fact
from ecom_rlve.envs.world.stockout import ProductCoins, sell_variants, standing_variants
from ecom_rlve.envs.world.variants import are_named
from ecom_rlve.envs.world.world import World

T = TypeVar("T")

_LEAVE_OUT = 0.25
"""Probability that the customer leaves the item out instead of replacing it, if more than two items are wanted."""
_SHOWN_FIRST = 2
"""Products that stay must have been shown before any sells out: one of them can take the place of the wanted one."""


class ProductStockout(Stockout[CartGoal]):
    """Products of one wanted item's kind sell out; the customer takes another that was shown, or none."""

    def __init__(self, coins: ProductCoins, item: int, *, leave_out: bool) -> None:
        self.coins, self.item, self._leave_out = coins, item, leave_out
        self._has_begun = False

    def sell(self, intent: Intent[CartGoal]) -> None:
        if not len(self.coins.fallen):
            return
        world = intent.world
        self._has_begun = self._has_begun or len(self._substitutes(world)) >= _SHOWN_FIRST
        if self._has_begun:
            self.coins.sell(world)

    def missing(self, intent: Intent[CartGoal]) -> int | None:
        wanted = intent.goal.items[self.item]
        return self.item if wanted is not None and wanted.row in intent.world.sold_out else None

    def reported(self, intent: Intent[CartGoal], rows: Collection[int], text: str) -> int | None:  # noqa: ARG002 - only variants look at the words
        item = self.missing(intent)
        return item if item is not None and _wanted(intent, item).row in rows else None

    def settled(self, intent: Intent[CartGoal], item: int) -> Change:
        world, wanted, mention = intent.world, _wanted(intent, item), _mention(intent, item)
        if self._leave_out:
            return _changed(intent, item, None, Act(ActKind.STOCKOUT_FALLBACK, (mention,)), keep=())
        # Titles that were each one product's when the first sold out may all be shared by what was shown since.
        row = _one_of(world, self._substitutes(world) or self._standing(world)[:1])
        act = Act(ActKind.STOCKOUT_FALLBACK, (mention,), title=world.title(row))
        return _changed(intent, item, WantedItem(row, None, wanted.quantity), act, keep=("quantity",))

    def _substitutes(self, world: World) -> list[int]:
        """Return what can take the wanted product's place and is named by its title: no other that was shown has it."""
        titles = Counter(world.title(row) for row in self._shown(world))
        return [row for row in self._standing(world) if titles[world.title(row)] == 1]

    def _standing(self, world: World) -> list[int]:
        """Return the products that were shown, that stay, and of which the customer can have any quantity."""
        stock = world.shop.catalog.column("stock").values
        rows = np.array([row for row in self._shown(world) if stock[row] >= MOST_UNITS], dtype=np.int32)
        return [row for row in self.coins.standing(rows).tolist() if row not in world.sold_out]

    def _shown(self, world: World) -> list[int]:
        codes, code = world.shop.catalog.category_codes, world.shop.catalog.category_index[self.coins.category]
        return [row for row in world.shown if codes[row] == code]


class VariantStockout(Stockout[CartGoal]):
    """Variants of the products of one wanted item's kind sell out; the customer takes another variant, or nothing."""

    def __init__(self, item: int, category: str, *, leave_out: bool) -> None:
        self.item, self._category, self._leave_out = item, category, leave_out

    def sell(self, intent: Intent[CartGoal]) -> None:
        world = intent.world
        catalog = world.shop.catalog
        rows = [row for row in world.variants_read if catalog.category_of(row).name == self._category]
        sell_variants(world, rows)

    def missing(self, intent: Intent[CartGoal]) -> int | None:
        wanted = intent.goal.items[self.item]
        if wanted is None or wanted.variant is None:
            return None
        return self.item if wanted.variant.id in intent.world.sold_out_variants else None

    def may_be_meant(self, intent: Intent[CartGoal], rows: list[int]) -> list[int]:
        return [row for row in rows if row in intent.world.variants_read] or rows

    def reported(self, intent: Intent[CartGoal], rows: Collection[int], text: str) -> int | None:
        item = self.missing(intent)
        if item is None or (row := _wanted(intent, item).row) not in rows:
            return None
        named = are_named(text, intent.world.variants(row))
        return item if not named or _wanted(intent, item).variant in named else None

    def settled(self, intent: Intent[CartGoal], item: int) -> Change:
        world, wanted, mention = intent.world, _wanted(intent, item), _mention(intent, item)
        if self._leave_out:
            return _changed(intent, item, None, Act(ActKind.STOCKOUT_FALLBACK, (mention,)), keep=())
        variant = _one_of(world, standing_variants(world, wanted.row))
        fact = variant_fact(variant)
        act = Act(ActKind.STOCKOUT_FALLBACK, (replace(mention, facts=(fact,)),))
        return _changed(intent, item, replace(wanted, variant=variant), act, keep=None, fact=fact)


def draw_stockout(world: World, items: tuple[WantedItem, ...], rng: Generator) -> Stockout[CartGoal] | None:
    """Draw of which kind products or variants sell out, without a look at what is wanted.

    None if variants do, and the wanted product has no other one that stays.
    """
    which, what, whether = rng.random(3).tolist()
    item = int(which * len(items))
    category = world.shop.catalog.category_of(items[item].row).name
    leave_out = len(items) > 2 and whether < _LEAVE_OUT
    if what < 0.5:
        return ProductStockout(ProductCoins(world, category), item, leave_out=leave_out)
    others = [variant for variant in standing_variants(world, items[item].row) if variant != items[item].variant]
    return VariantStockout(item, category, leave_out=leave_out) if others else None


def _wanted(intent: Intent[CartGoal], item: int) -> WantedItem:
    wanted = intent.goal.items[item]
    assert wanted is not None
    return wanted


def _mention(intent: Intent[CartGoal], item: int) -> Mention:
    subject = intent.subjects[item]
    return Mention(subject.singular, subject.plural)


def _one_of(world: World, choices: Sequence[T]) -> T:
    return choices[int(world.streams.stream("stock-out fallback").integers(len(choices)))]


def _changed(
    intent: Intent[CartGoal],
    item: int,
    wanted: WantedItem | None,
    act: Act,
    *,
    keep: tuple[str, ...] | None,
    fact: Fact | None = None,
) -> Change:
    """Return the change that replaces an item by ``wanted``.

    Of the item's slots only those named in ``keep`` (None: all) remain; ``fact`` is added if it is given.
    """
    items = list(intent.goal.items)
    items[item] = wanted
    slots = []
    for slot in intent.slots:
        if slot.item != item or keep is None or slot.name in keep:
            replaced = slot.item == item and fact is not None and slot.name == fact.slot
            slots.append(Slot(item, fact) if replaced and fact is not None else slot)
    return Change(act, CartGoal(tuple(items)), tuple(slots))
