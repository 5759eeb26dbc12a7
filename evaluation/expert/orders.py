"""What the order tools have shown of the customer's orders, and which of them a customer means."""

from __future__ import annotations

from datetime import date
from typing import Any

from rapidfuzz import fuzz

from ecom_rlve.evaluation.agent import call

Order = dict[str, Any]
"""An order as a tool shows it."""

_PAGE = 50


class OrderHistory:
    """The orders of one customer, newest first."""

    def __init__(self) -> None:
        self.listed: list[Order] = []
        self.read: dict[str, Order] = {}
        """Orders that were read in full, by id."""
        self._total: int | None = None

    def take(self, tool: str, result: dict[str, Any] | None) -> None:
        """Note what a tool answered; None where it refused."""
        if result is None:
            return
        if tool == "order_list":
            self.listed += result["orders"]
            self._total = result["total_orders"]
        elif tool == "order_get":
            self.read[result["order_id"]] = result

    def next_page(self) -> dict[str, Any] | None:
        """Return the call that lists further orders, None where all are listed."""
        if self._total is not None and len(self.listed) >= self._total:
            return None
        return call("order_list", limit=_PAGE, offset=len(self.listed) or None)

    def lines_of(self, order: Order) -> list[dict[str, Any]]:
        """Return the lines of a listed order with its id: as they were read, else their ids and categories."""
        read = self.read.get(order["order_id"])
        if read is not None:
            return [{"order_id": read["order_id"], **line} for line in read["lines"]]
        listed = zip(order["line_ids"], order["categories"], strict=True)
        return [{"order_id": order["order_id"], "line_id": each, "category": category} for each, category in listed]

    def category_of(self, noun: str) -> str:
        """Return the listed category that is most like what a thing is called: "scarves" for "scarf".

        "" before orders were listed.
        """
        categories = sorted({name for order in self.listed for name in order["categories"]})
        return max(categories, key=lambda category: _likeness(noun, category), default="")


def _likeness(noun: str, category: str) -> float:
    """Return how alike a noun and a category's name are, 0 to 100.

    "Bag of coffee beans" may stand for "coffee beans", and "pair of tights" for "tights and stockings".
    """
    forms = (noun, noun.rpartition(" of ")[2])
    names = (category, *category.split(" and "))
    return max(fuzz.ratio(form, name) for form in forms for name in names)


def placed(order: Order) -> date:
    """Return the day on which an order was placed."""
    return date.fromisoformat(order["date"])


def cents(amount: float) -> int:
    """Return an amount of money that a tool shows in integer cents."""
    return round(100 * amount)


def without_article(noun: str) -> str:
    """Return "desk lamp" for "a desk lamp"."""
    return noun.partition(" ")[2]
