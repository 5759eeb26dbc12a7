"""What a customer who sends something back has said: which order line they mean, and what shall become of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ecom_rlve.evaluation.expert.orders import Order, OrderHistory, cents, placed
from ecom_rlve.models import SaidAct, SaidFact

Line = dict[str, Any]
"""An order line as a tool shows it, with its ``order_id``."""

NOTHING_NEW = "no replacement"
EXCHANGE = "exchange"
REASONS = {
    "a defect": "defective",
    "transport damage": "damaged",
    "the wrong item": "wrong_item",
    "a poor fit": "does_not_fit",
    "a misleading description": "not_as_described",
    "a change of mind": "changed_mind",
    "a belated delivery": "arrived_late",
}
"""The store's name of each reason."""
METHODS = {"a refund to my card": "original_payment", "store credit": "store_credit", "an exchange": EXCHANGE}
"""The store's name of each way to make good."""
_OF_ORDER: Mapping[str, Callable[[Order, Any], bool]] = {
    "order_date": lambda order, ordinal: placed(order).toordinal() == ordinal,
    "order_total": lambda order, total: cents(order["total"]) == total,
}
_OF_LINE: Mapping[str, Callable[[Line, Any], bool]] = {
    "price_paid": lambda line, price: cents(line["price_paid"]) == price,
    "units_bought": lambda line, units: bool(line["quantity"] == units),
}
"""Whether what was said is true of an order or of a line, by slot."""


class ReturnRequest:
    """Everything that was said, by what it is about."""

    def __init__(self) -> None:
        self.noun = ""
        """What the customer calls the thing that goes back."""
        self.facts: dict[str, SaidFact] = {}
        """Of the thing that goes back, by slot."""
        self.wishes: dict[str, SaidFact] = {}
        """Of the one that is wanted instead, by attribute."""

    def hear(self, acts: Sequence[SaidAct]) -> None:
        """Take in the acts of a message."""
        for act in acts:
            self.noun = act.says.get("item", self.noun)
            for item in act.items:
                about = self.facts if item.singular == self.noun else self.wishes
                about |= {fact.slot: fact for fact in item.facts}

    @property
    def reason(self) -> str | None:
        """The store's name of the reason, None before it was said."""
        return REASONS.get(self._said("reason"))

    @property
    def method(self) -> str | None:
        """The store's name of how to make good, None before it was said."""
        return METHODS.get(self._said("method"))

    @property
    def wants_new(self) -> bool:
        """Whether something is wanted instead, as far as was said."""
        is_named = self._said("replacement") not in ("", NOTHING_NEW)
        return is_named or bool(self.wishes) or self.method == EXCHANGE

    def orders(self, history: OrderHistory, *, narrows: bool) -> list[Order]:
        """Return the listed orders that may hold the line; unless ``narrows``, all with such a thing."""
        category = history.category_of(self.noun)
        orders = [order for order in history.listed if category in order["categories"]]
        return [order for order in orders if not narrows or self._is_true(_OF_ORDER, order)]

    def lines(self, history: OrderHistory, orders: Sequence[Order], *, narrows: bool) -> list[Line]:
        """Return the lines of the orders that may be meant; of an order that was not read, all of the kind."""
        category = history.category_of(self.noun)
        found = [line for order in orders for line in history.lines_of(order) if line["category"] == category]
        return [line for line in found if not narrows or "quantity" not in line or self._is_true(_OF_LINE, line)]

    def _is_true(self, tests: Mapping[str, Callable[[dict[str, Any], Any], bool]], of: dict[str, Any]) -> bool:
        return all(test(of, self.facts[slot].value) for slot, test in tests.items() if slot in self.facts)

    def _said(self, slot: str) -> str:
        return str(self.facts[slot].value) if slot in self.facts else ""
