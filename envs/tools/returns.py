"""Return tools. They enforce the store's rules themselves; nothing that was initiated can be undone."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ecom_rlve.envs.errors import DomainError
from ecom_rlve.envs.tools.cart import Id, chosen_variant
from ecom_rlve.envs.tools.tool import Args, Tool
from ecom_rlve.envs.world.eligibility import EXCHANGE, eligibility, find_line
from ecom_rlve.envs.world.orders import Order, OrderLine
from ecom_rlve.envs.world.world import Return, World
from ecom_rlve.models import DomainCode

Reason = Literal[
    "defective", "damaged", "wrong_item", "does_not_fit", "not_as_described", "changed_mind", "arrived_late"
]
Refund = Literal["original_payment", "store_credit"]


class CheckArgs(Args):
    """Arguments of ``return_check_eligibility``."""

    order_id: Id
    line_id: Id


class InitiateArgs(Args):
    """Arguments of ``return_initiate``."""

    order_id: Id
    line_id: Id
    reason: Reason
    method: Refund = Field(description="How the customer gets the money back.")


class ExchangeArgs(Args):
    """Arguments of ``return_exchange``."""

    order_id: Id
    line_id: Id
    reason: Reason
    new_product_id: Id
    new_variant_id: Id | None = Field(default=None, description="From catalog_get_variants; absent: the first listed.")


def _check(world: World, args: CheckArgs) -> dict[str, Any]:
    order, line = find_line(world, args.order_id, args.line_id)
    found = eligibility(world, order, line)
    world.eligibility_read.add(line.line_id)
    shown: dict[str, Any] = {"order_id": order.order_id, "line_id": line.line_id, "eligible": found.is_eligible}
    if found.code is not None:
        shown |= {"code": found.code.value, "why": found.why}
    if found.last_day is not None:
        shown |= {"last_day": found.last_day.isoformat(), "restocking_percent": found.restocking_percent}
    return shown


def _require_eligible(world: World, order_id: str, line_id: str) -> tuple[Order, OrderLine]:
    order, line = find_line(world, order_id, line_id)
    found = eligibility(world, order, line)
    if found.code is not None:
        world.returns_refused.add(line.line_id)
        raise DomainError(found.code, found.why)
    return order, line


def _book(world: World, done: Return) -> dict[str, Any]:
    world.returns.append(done)
    world.changes += 1
    shown = {"order_id": done.order_id, "line_id": done.line_id, "reason": done.reason, "method": done.method}
    return {"status": "initiated", **shown}


def _initiate(world: World, args: InitiateArgs) -> dict[str, Any]:
    order, line = _require_eligible(world, args.order_id, args.line_id)
    return _book(world, Return(order.order_id, line.line_id, args.reason, args.method))


def _exchange(world: World, args: ExchangeArgs) -> dict[str, Any]:
    order, line = _require_eligible(world, args.order_id, args.line_id)
    row = world.row_of(args.new_product_id)
    variant = chosen_variant(world, row, args.new_variant_id)
    if not world.in_stock(row, variant):
        raise DomainError(DomainCode.OUT_OF_STOCK, "sold out")
    shown = _book(world, Return(order.order_id, line.line_id, args.reason, EXCHANGE, row))
    return {**shown, "new_product_id": args.new_product_id, **variant.shown()}


RETURN_CHECK_ELIGIBILITY = Tool(
    "return_check_eligibility", "Tell whether an order line can be returned or exchanged today.", CheckArgs, _check
)
RETURN_INITIATE = Tool(
    "return_initiate",
    "Return an order line for a refund; cannot be undone.",
    InitiateArgs,
    _initiate,
    writes=True,
)
RETURN_EXCHANGE = Tool(
    "return_exchange",
    "Exchange an order line for another product; cannot be undone.",
    ExchangeArgs,
    _exchange,
    writes=True,
)
