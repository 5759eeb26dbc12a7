"""Mid-dialogue stock-outs (SPEC §6): something sells out right after the result that first showed it.

Whether a wanted thing is among what sells out is drawn; the moment, the kind and the number are the same either way,
so that a change of stock tells nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ecom_rlve.envs.variants import Variant
from ecom_rlve.envs.world import World

TOGETHER = 3
"""How many things sell out at once."""


@dataclass(slots=True)
class StockoutPlan:
    """What may sell out in one episode, drawn before it begins."""

    hits: bool
    """Whether the wanted thing itself sells out."""
    item: int
    """The wanted item around which the stock-out happens."""
    kind: Literal["product", "variant"]
    leave_out: bool
    """The customer would rather do without than take another."""
    fired: bool = False
    is_settled: bool = False
    """The customer has been told and has decided."""
    fallback_row: int | None = None
    """Product the customer would take instead."""
    fallback_variant: Variant | None = None
    """Variant the customer would take instead."""

    def sell_variants(self, world: World, row: int, wanted: Variant) -> None:
        """Sell out three variants of a product whose variants were read; ``wanted`` among them where the plan hits."""
        if self.fired or row not in world.variants_read or any(line.row == row for line in world.cart):
            return
        others = [variant for variant in world.variants(row) if variant != wanted]
        order = world.streams.stream("stockout").permutation(len(others)).tolist()
        shuffled = [others[at] for at in order]
        gone = shuffled[: TOGETHER - self.hits] + [wanted] * self.hits
        self.fallback_variant = shuffled[-1] if self.hits else None
        world.sold_out_variants.update(variant.id for variant in gone)
        self.fired = True

    def sell_products(self, world: World, row: int, lookalikes: Sequence[int], keep: int | None = None) -> None:
        """Sell out three products of a kind; ``row`` among them where the plan hits.

        ``lookalikes`` are other products of the kind that were shown, can be bought and are in no cart, in the order
        shown. Nothing happens before the wanted one and three of these (one of them the fallback) were shown. ``keep``
        names the fallback, which must be one of them; None: any.
        """
        is_held = any(line.row == row for line in world.cart)
        if self.fired or row not in world.shown or is_held or len(lookalikes) < TOGETHER:
            return
        order = world.streams.stream("stockout").permutation(len(lookalikes)).tolist()
        shuffled = [lookalikes[at] for at in order]
        if keep is not None:
            shuffled.remove(keep)
            shuffled.append(keep)
        gone = shuffled[: TOGETHER - self.hits] + [row] * self.hits
        self.fallback_row = shuffled[-1] if self.hits else None
        world.sold_out.update(gone)
        self.fired = True
