"""Stock-outs of CART: what sells out, and what the customer takes instead (SPEC §6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from numpy.random import Generator

from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.errand import Change, Intent, Stockout
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind, Fact, Mention
from ecom_rlve.envs.tasks.cart.goal import CartGoal, WantedItem, variant_fact, variant_probability
from ecom_rlve.envs.world.stockout import StockoutPlan
from ecom_rlve.envs.world.world import World

_LEAVE_OUT = 0.25
"""Probability that the customer leaves the item out instead of replacing it, if more than two items are wanted."""


class CartStockout(Stockout[CartGoal]):
    """Products, or variants of a product, sell out; the customer says what to take instead."""

    def sell(self, intent: Intent[CartGoal]) -> None:
        """Let things sell out if it is time for it."""
        plan, world = self.plan, intent.world
        if plan.fired:
            return
        items = {item.row: item for item in intent.goal.items if item is not None}
        hit = intent.goal.items[plan.item] if plan.hits else None
        rows = _unreserved(world, plan.reserved) if hit is None else [hit.row]
        if plan.kind == "variant":
            for row in rows:
                # If any variant of a wanted product counts, keep the first: it is what cart_add takes by default.
                wanted = (items[row].variant or world.variants(row)[0]) if row in items else None
                plan.sell_variants(world, row, wanted)
        else:
            for row in _first_of_kinds(world, rows):
                plan.sell_products(world, *_shown_of_kind(intent, row))

    def is_known(self, intent: Intent[CartGoal]) -> bool:
        """Tell whether some result has shown the agent that a wanted thing is sold out."""
        missing = self.missing(intent)
        item = None if missing is None else intent.goal.items[missing]
        if item is None:
            return False
        seen = intent.world.stockouts_seen
        return item.row in seen or (item.variant is not None and item.variant.id in seen)

    def missing(self, intent: Intent[CartGoal]) -> int | None:  # noqa: ARG002 - every implementation gets it, this one decides without
        """Return the position of a wanted item that sold out and needs a replacement; None if there is none."""
        plan = self.plan
        return plan.item if plan.fired and plan.hits and not plan.is_settled else None

    def settled(self, intent: Intent[CartGoal], item: int) -> Change:
        """Return what the customer wants instead of a missing item."""
        plan, wanted, subject = self.plan, intent.goal.items[item], intent.subjects[item]
        assert wanted is not None
        mention = Mention(subject.singular, subject.plural)
        if plan.leave_out:
            return _changed(intent, item, None, Act(ActKind.STOCKOUT_FALLBACK, (mention,)), keep=())
        if plan.fallback_variant is not None:
            fact = variant_fact(plan.fallback_variant)
            act = Act(ActKind.STOCKOUT_FALLBACK, (replace(mention, facts=(fact,)),))
            return _changed(intent, item, replace(wanted, variant=plan.fallback_variant), act, keep=None, fact=fact)
        assert plan.fallback_row is not None
        act = Act(ActKind.STOCKOUT_FALLBACK, (mention,), title=intent.world.title(plan.fallback_row))
        taken = WantedItem(plan.fallback_row, None, wanted.quantity)
        return _changed(intent, item, taken, act, keep=("quantity",))


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


def draw_stockout(items: tuple[WantedItem, ...], axes: Axes, rng: Generator) -> CartStockout:
    """Draw what may sell out."""
    draws = rng.random(5).tolist()
    hits, item = draws[0] < axes.p_oos, int(draws[1] * len(items))
    has_variant = items[item].variant is not None if hits else draws[4] < variant_probability(axes.d)
    plan = StockoutPlan(
        hits=hits,
        item=item,
        kind="variant" if has_variant and draws[2] < 0.5 else "product",
        leave_out=len(items) > 2 and draws[3] < _LEAVE_OUT,
    )
    return CartStockout(plan)


def _unreserved(world: World, reserved: frozenset[str]) -> list[int]:
    """Return the shown products, without those of kinds that other intents are about."""
    category_of = world.shop.catalog.category_of
    return [row for row in world.shown if category_of(row).name not in reserved] if reserved else list(world.shown)


def _first_of_kinds(world: World, rows: Iterable[int]) -> list[int]:
    """Return the first row of each category among ``rows``, in their order."""
    firsts: dict[int, int] = {}
    for row in rows:
        firsts.setdefault(int(world.shop.catalog.category_codes[row]), row)
    return list(firsts.values())


def _shown_of_kind(intent: Intent[CartGoal], row: int) -> tuple[int | None, list[int]]:
    """Return the wanted product of ``row``'s kind, if any, and the shown products of that kind that could replace it.

    The latter are unwanted, in stock, not in the cart, and have different titles.
    """
    world = intent.world
    catalog, codes = world.shop.catalog, world.shop.catalog.category_codes
    item = next((item for item in intent.goal.items if item and codes[item.row] == codes[row]), None)
    wanted, units = (item.row, item.quantity) if item else (None, 1)
    held = {line.row for line in world.cart}
    shown = [other for other in world.shown if codes[other] == codes[row]]
    titles = Counter(world.title(other) for other in shown)
    return wanted, [
        other
        for other in shown
        if other != wanted
        and other not in held
        and catalog.column("stock").values[other] >= units
        and titles[world.title(other)] == 1
    ]
