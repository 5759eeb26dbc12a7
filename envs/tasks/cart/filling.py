"""The calls that make a cart hold what is wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ecom_rlve.envs.tasks.cart.goal import WantedItem
from ecom_rlve.envs.world.world import World


def calls_to_fill(world: World, items: Sequence[WantedItem]) -> Iterator[dict[str, Any]]:
    """Yield the calls after which the cart holds exactly the items.

    What is to go goes last: a product that is in the cart does not sell out.
    """
    kept: set[str] = set()
    for item in items:
        lines = (line for line in world.errand_cart if line.row == item.row)
        line = next((line for line in lines if item.variant in (None, line.variant)), None)
        if line is None:
            args: dict[str, Any] = {"product_id": world.shop.catalog.ids[item.row], "quantity": item.quantity}
            yield {"name": "cart_add", "args": args | ({"variant_id": item.variant.id} if item.variant else {})}
            continue
        kept.add(line.line_id)
        if line.quantity != item.quantity:
            yield {"name": "cart_set_quantity", "args": {"line_id": line.line_id, "quantity": item.quantity}}
    for line in world.errand_cart:
        if line.line_id not in kept:
            yield {"name": "cart_remove", "args": {"line_id": line.line_id}}
