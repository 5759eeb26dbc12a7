"""Mid-dialogue stock-outs (SPEC §6): something sells out right after the result that first showed it.

Whether a wanted thing is among what sells out is drawn. Where none is, the goal has no part in it: things sell out
around the first product that could be one, so that neither the moment nor the place tells what is wanted. The number
is the same either way.
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
    """The wanted item that sells out where the plan hits."""
    kind: Literal["product", "variant"]
    leave_out: bool
    """The customer would rather do without than take another."""
    reserved: frozenset[str] = frozenset()
    """Leaf categories that other intents are about: a plan that misses leaves them alone."""
    fired: bool = False
    is_settled: bool = False
    """The customer has been told and has decided."""
    fallback_row: int | None = None
    """Product the customer would take instead."""
    fallback_variant: Variant | None = None
    """Variant the customer would take instead."""

    def sell_variants(self, world: World, row: int, wanted: Variant | None) -> None:
        """Sell out three variants of a product whose variants were read; ``wanted`` is one if the plan hits."""
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
        """Let a plan that misses fire: sell out three products of the first kind of which four were shown.

        Only those in no cart count; none of ``kept`` goes, and where most of a kind are, it waits for others.
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
        """Sell out three products of a kind; ``wanted``, the wanted row of that kind, among them only if the plan hits.

        ``lookalikes`` are unwanted products of the kind that were shown, can be bought and are in no cart, in the order
        shown. Nothing happens before four products of the kind were shown, one of them the wanted one if it is to go.
        ``keep`` names the fallback, which must be one of the lookalikes; None: any.
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
