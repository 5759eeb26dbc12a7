"""Order tools: a list of orders with day, total, line ids and titles, and the details of one order."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from ecom_rlve.envs.tools.tool import WHOLE, Args, Tool
from ecom_rlve.envs.world.cards import named_currency
from ecom_rlve.envs.world.eligibility import find_order
from ecom_rlve.envs.world.orders import OrderLine
from ecom_rlve.envs.world.world import World


class ListArgs(Args):
    """Arguments of ``order_list``."""

    limit: Annotated[int, Field(ge=1, le=50), WHOLE] = 20
    offset: Annotated[int, Field(ge=0, le=10_000), WHOLE] = 0


class GetArgs(Args):
    """Arguments of ``order_get``."""

    order_id: str = Field(max_length=64)


def _list(world: World, args: ListArgs) -> dict[str, Any]:
    page = world.orders[args.offset : args.offset + args.limit]
    return {
        "orders": [
            {
                "order_id": order.order_id,
                "date": order.placed.isoformat(),
                "total": order.total_cents / 100,
                **named_currency(world.shop.catalog),
                "line_ids": [line.line_id for line in order.lines],
                "titles": [world.shop.card(line.row)["title"] for line in order.lines],
                "categories": [world.shop.catalog.category_of(line.row).name for line in order.lines],
            }
            for order in page
        ],
        "total_orders": len(world.orders),
    }


def _get(world: World, args: GetArgs) -> dict[str, Any]:
    order = find_order(world, args.order_id)
    world.orders_read.add(order.order_id)
    dates = {"eta": order.eta, "delivered": order.delivered}
    return {
        "order_id": order.order_id,
        "date": order.placed.isoformat(),
        "status": order.status.value,
        **{name: day.isoformat() for name, day in dates.items() if day is not None},
        "total": order.total_cents / 100,
        **named_currency(world.shop.catalog),
        "lines": [_shown(world, line) for line in order.lines],
    }


def _shown(world: World, line: OrderLine) -> dict[str, Any]:
    card = world.show(line.row)
    variants = world.variants(line.row)
    variant = variants[int(line.variant_share * len(variants))]
    sent_back = next((done for done in world.returns if done.line_id == line.line_id), None)
    shown: dict[str, Any] = {
        "line_id": line.line_id,
        "product_id": card["product_id"],
        "title": card["title"],
        "category": card["category"],
        **variant.shown(),
        "quantity": line.quantity,
        "price_paid": line.price_cents / 100,
        "sale_class": line.sale_class,
    }
    if line.returned is not None:
        shown["returned"] = line.returned.isoformat()
    elif sent_back is not None:
        shown["returned"] = world.today.isoformat()
    return shown


ORDER_LIST = Tool(
    "order_list",
    "List the customer's orders, newest first: day, total, and the id, title and category of each line.",
    ListArgs,
    _list,
)
ORDER_GET = Tool("order_get", "Read one order: status, dates, its lines with prices and quantities.", GetArgs, _get)
