"""Which order lines can be returned, by the store's rules; used by tools, goals and verifiers alike (SPEC §5.3, §6)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from ecom_rlve.envs.errors import DomainError
from ecom_rlve.envs.world.orders import Order, OrderLine
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import DomainCode

EXCHANGE = "exchange"
"""The method of an exchange; every other method is a refund."""

_WHY = {
    DomainCode.ALREADY_RETURNED: "this line has been returned or exchanged already",
    DomainCode.NOT_DELIVERED: "only what has been delivered can be returned",
    DomainCode.FINAL_SALE: "this line was bought as final sale and cannot be returned",
    DomainCode.WINDOW_CLOSED: "the time in which this line could be returned is over",
}


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Whether a line can be returned or exchanged today."""

    code: DomainCode | None
    """Why not; None if it can be returned."""
    last_day: date | None
    """Last day on which it can be or could have been returned; None if there is none."""
    restocking_percent: int
    """Percent of the price that is kept from a refund."""

    @property
    def is_eligible(self) -> bool:
        """Whether it can be returned."""
        return self.code is None

    @property
    def why(self) -> str:
        """Why not, in words; empty if it can be returned."""
        return "" if self.code is None else _WHY[self.code]


def find_order(world: World, order_id: str) -> Order:
    """Return an order by id; raises the domain error UNKNOWN_ORDER."""
    for order in world.orders:
        if order.order_id == order_id:
            return order
    raise DomainError(DomainCode.UNKNOWN_ORDER, "no order has this id; order_list lists them")


def find_line(world: World, order_id: str, line_id: str) -> tuple[Order, OrderLine]:
    """Return an order with one of its lines; raises the domain errors UNKNOWN_ORDER and UNKNOWN_LINE."""
    order = find_order(world, order_id)
    for line in order.lines:
        if line.line_id == line_id:
            return order, line
    raise DomainError(DomainCode.UNKNOWN_LINE, "this order has no such line; order_get lists its lines")


def eligibility(world: World, order: Order, line: OrderLine) -> Eligibility:
    """Return whether a line can be returned now. The last day is the day of delivery plus the return window."""
    department = world.shop.catalog.category_of(line.row).department
    terms = world.return_terms(department, is_final_sale=line.sale_class == "final_sale")
    last_day = None
    if order.delivered is not None and terms.is_returnable:
        last_day = order.delivered + timedelta(days=terms.window_days)
    code = None
    if line.returned is not None or any(done.line_id == line.line_id for done in world.returns):
        code = DomainCode.ALREADY_RETURNED
    elif order.delivered is None:
        code = DomainCode.NOT_DELIVERED
    elif last_day is None:
        code = DomainCode.FINAL_SALE
    elif world.today > last_day:
        code = DomainCode.WINDOW_CLOSED
    return Eligibility(code, last_day, terms.restocking_percent)
