"""Stock-outs during the dialogue (SPEC §6): things sell out right after the results that first showed them.

It is drawn whether a wanted thing is among them. If it is not, things sell out around the first product that could be a
wanted one, independent of the goal. So neither the time nor the kind tells what is wanted. The number of things is the
same in both cases.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from ecom_rlve.envs.world.variants import Variant
from ecom_rlve.envs.world.world import World

TOGETHER = 3
"""How many things sell out at once."""


@dataclass(slots=True)
class StockoutPlan:
    """What may sell out in one episode, drawn before it begins."""

    hits: bool
    """Whether the wanted thing itself sells out."""
    item: int
    """Position of the wanted item that sells out if the plan hits."""
    kind: Literal["product", "variant"]
    leave_out: bool
    """The customer leaves the item out instead of taking another."""
    reserved: frozenset[str] = frozenset()
    """Leaf categories that other intents are about; a plan that misses sells out nothing in them."""
    fired: bool = False
    """Things have sold out."""
    is_settled: bool = False
    """The customer has been told and has decided."""
    fallback_row: int | None = None
    """The product that the customer would take instead."""
    fallback_variant: Variant | None = None
    """The variant that the customer would take instead."""

    def sell_variants(self, world: World, row: int, wanted: Variant | None) -> None:
        """Sell out three variants of a product once the agent has read them; ``wanted`` only if the plan hits."""
        if self.fired or row not in world.variants_read or any(line.row == row for line in world.cart):
            return
        others = [variant for variant in world.variants(row) if variant != wanted]
        order = world.streams.stream("stockout").permutation(len(others)).tolist()
        shuffled = [others[at] for at in order]
        gone = shuffled[:TOGETHER]
        if self.hits:
            assert wanted is not None
            gone[-1] = wanted
            self.fallback_variant = shuffled[-1]
        world.sold_out_variants.update(variant.id for variant in gone)
        self.fired = True

    def sell_unwanted(self, world: World, kept: Collection[int]) -> None:
        """For a plan that misses: sell out three products of the first kind with four products shown.

        Products in the cart do not count. None of ``kept`` sells out; if a kind has fewer than three others, the plan
        waits for another kind or more products.
        """
        stock, held = world.shop.catalog.column("stock").values, {line.row for line in world.cart}
        kinds: dict[str, list[int]] = {}
        for row in world.shown:
            if row not in held and stock[row] > 0 and row not in world.sold_out:
                kinds.setdefault(world.shop.catalog.category_of(row).name, []).append(row)
        for kind, rows in kinds.items():
            free = [row for row in rows if row not in kept and kind not in self.reserved]
            if not self.fired and len(rows) > TOGETHER and len(free) >= TOGETHER:
                order = world.streams.stream("stockout").permutation(len(free)).tolist()
                world.sold_out.update(free[at] for at in order[:TOGETHER])
                self.fired = True

    def sell_products(
        self, world: World, wanted: int | None, lookalikes: Sequence[int], keep: int | None = None
    ) -> None:
        """Sell out three products of a kind. The wanted one, ``wanted``, is among them if and only if the plan hits.

        ``lookalikes`` are unwanted products of the kind that were shown, can be bought and are not in the cart, in the
        order shown. Nothing happens before four products of the kind were shown, including the wanted one if the plan
        hits. ``keep`` is the lookalike to keep as the fallback; None: any.
        """
        is_free = wanted in world.shown and all(line.row != wanted for line in world.cart)
        least = TOGETHER if is_free else TOGETHER + 1
        if self.fired or len(lookalikes) < least or (self.hits and not is_free):
            return
        order = world.streams.stream("stockout").permutation(len(lookalikes)).tolist()
        shuffled = [lookalikes[at] for at in order]
        if keep is not None:
            shuffled.remove(keep)
            shuffled.append(keep)
        gone = shuffled[:TOGETHER]
        if self.hits:
            assert wanted is not None
            gone[-1] = wanted
            self.fallback_row = shuffled[-1]
        world.sold_out.update(gone)
        self.fired = True
