"""Changes of mind of CART: another quantity of one thing, or another variant (SPEC §6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from numpy.random import Generator

from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.envs.errand import Change, Intent, Revision, Stockout
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Fact
from ecom_rlve.envs.parts.change_of_mind import revising
from ecom_rlve.envs.tasks.cart.filling import calls_to_fill
from ecom_rlve.envs.tasks.cart.goal import MOST_UNITS, CartGoal, WantedItem, variant_fact
from ecom_rlve.envs.tasks.cart.stockout import VariantStockout
from ecom_rlve.envs.world.stockout import standing_variants
from ecom_rlve.envs.world.variants import Variant
from ecom_rlve.envs.world.world import World


class ItemRevision(Revision[CartGoal]):
    """The customer wants another quantity or another variant of one item."""

    def __init__(self, turn: int, slot: Slot, fact: Fact, *, quantity: int | None, variant: Variant | None) -> None:
        super().__init__(turn, slot)
        self.fact, self._quantity, self._variant = fact, quantity, variant

    def change(self, intent: Intent[CartGoal]) -> Change | None:
        items = list(intent.goal.items)
        wanted = items[self.slot.item]
        if wanted is None:
            return None
        if self._quantity is not None:
            wanted = replace(wanted, quantity=self._quantity)
        if self._variant is not None:
            wanted = replace(wanted, variant=self._variant)
        items[self.slot.item] = wanted
        return revising(intent, self.slot, self.fact, CartGoal(tuple(items)))

    def turns_after(self, intent: Intent[CartGoal], change: Change) -> int:
        """Return one turn each for finding what was not shown and for reading variants, and those that the cart takes.

        The answer takes none: it goes with the last calls.
        """
        world = intent.world
        items = [item for item in change.goal.items if item is not None]
        searches = any(item.row not in world.shown for item in items)
        reads = any(item.variant is not None and item.row not in world.variants_read for item in items)
        calls = len(list(calls_to_fill(world, items)))
        return searches + reads + max(1, -(-calls // world.axes.b_tool))


def draw_revision(
    world: World,
    items: Sequence[WantedItem],
    slots: Sequence[Slot],
    stockout: Stockout[CartGoal],
    turn: int,
    rng: Generator,
) -> Revision[CartGoal] | None:
    """Draw what the customer revises: each quantity and each required variant is as likely.

    None if what they then want would have no other variant that stays in stock, where variants sell out.
    """
    revisable = [slot for slot in slots if slot.name in ("quantity", "variant")]
    which, what = rng.random(2).tolist()
    slot = revisable[int(which * len(revisable))]
    item = items[slot.item]
    if slot.name == "quantity":
        others = [count for count in range(1, MOST_UNITS + 1) if count != item.quantity]
        quantity = others[int(what * len(others))]
        fact = replace(slot.fact, constraint=Constraint("quantity", Op.EQ, quantity))
        return ItemRevision(turn, slot, fact, quantity=quantity, variant=None)
    variants = [each for each in world.variants(item.row) if each != item.variant and each.is_plentiful]
    if not variants:
        return None
    variant = variants[int(what * len(variants))]
    sells_out = isinstance(stockout, VariantStockout) and stockout.item == slot.item
    if sells_out and all(other == variant for other in standing_variants(world, item.row)):
        return None
    return ItemRevision(turn, slot, variant_fact(variant), quantity=None, variant=variant)
