"""What the expert understands of a return: which line is meant, and what shall become of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ecom_rlve.evaluation.reading import language
from ecom_rlve.evaluation.reading.order_notes import (
    Order,
    OrderNotes,
    days_said,
    holds,
    is_of_kind,
    kept,
    placed_on,
)

Line = dict[str, Any]

_FRAGMENT = re.compile(r"[,;:!]\s|\.\s|\sand\s|\n")
_NUMBER = re.compile(r"(?<![\d$.])(\d+)(?![\d.])")
_NEW_THING = re.compile(r"\b(?:the|that|this) new\b", re.IGNORECASE)
_A_NEW_THING = re.compile(r"\ban? new\b", re.IGNORECASE)
_REASONS = {
    "defective": ("defect",),
    "damaged": ("transport damage", "damage"),
    "wrong_item": ("wrong item",),
    "does_not_fit": ("poor fit",),
    "not_as_described": ("misleading description", "misleading"),
    "changed_mind": ("change of mind",),
    "arrived_late": ("belated delivery", "belated"),
}
_METHODS = {
    "original_payment": ("refund to my card", "refund"),
    "store_credit": ("store credit",),
    "exchange": ("an exchange",),
}


@dataclass(slots=True)
class ReturnNotes:
    """Everything the customer has said, by what it is about."""

    thing: str | None = None
    """What goes back, as titles spell it."""
    about_thing: str = ""
    """What was said of it."""
    about_new: list[str] = field(default_factory=list)
    """Sentences about what is wanted instead."""

    def hear(self, text: str) -> None:
        """Take in a message."""
        for sentence in language.sentences(text):
            if _NEW_THING.search(sentence):
                self.about_new.append(sentence)
            else:
                self.about_thing += f"\n{sentence}"

    @property
    def reason(self) -> str | None:
        """The store's name of the reason that was said."""
        return _meant(_REASONS, self.about_thing)

    @property
    def method(self) -> str | None:
        """The store's name of the compensation that was said; ``exchange`` for an exchange."""
        return _meant(_METHODS, self.about_thing)

    @property
    def wants_new(self) -> bool | None:
        """Whether something is wanted instead; None where nothing was said of it."""
        if self.about_new or _A_NEW_THING.search(self.about_thing) or self.method == "exchange":
            return True
        return False if language.is_said("no replacement", self.about_thing) else None

    def orders_meant(self, notes: OrderNotes, *, narrows: bool) -> list[Order]:
        """Return the orders that may hold the line; unless ``narrows``, all that hold such a thing."""
        thing = self.thing
        orders = [order for order in notes.orders if thing is None or holds(order, thing)]
        if not narrows:
            return orders
        by_kind = [lambda order: is_of_kind(order, thing)] if thing else []
        days, totals = days_said(self.about_thing), self._amounts(of_order=True)
        by_day = [lambda order: (placed_on(order).day, placed_on(order).month) in days] if days else []
        by_total = [lambda order: order["total"] in totals] if totals else []
        return kept(orders, [*by_total, *by_day, *by_kind])

    def lines_meant(self, orders: list[Order], *, narrows: bool) -> list[tuple[str, Line]]:
        """Return the lines of orders that were read, with their orders' ids, that may be meant."""
        thing = self.thing
        found = [
            (order["order_id"], line)
            for order in orders
            for line in order["lines"]
            if thing is None or holds(_as_order(line), thing)
        ]
        if not narrows:
            return found
        by_kind = [lambda pair: is_of_kind(_as_order(pair[1]), thing)] if thing else []
        prices, units = self._amounts(of_order=False), self._units()
        by_price = [lambda pair: pair[1]["price_paid"] in prices] if prices else []
        by_units = [lambda pair: pair[1]["quantity"] in units] if units else []
        return kept(found, [*by_kind, *by_price, *by_units])

    def _amounts(self, *, of_order: bool) -> list[float]:
        return [
            amount
            for part in _FRAGMENT.split(self.about_thing)
            if ("order" in (tokens := language.words(part)) or "total" in tokens) == of_order
            for amount in language.prices(part)
        ]

    def _units(self) -> list[int]:
        return [
            int(number)
            for part in _FRAGMENT.split(self.about_thing)
            if "of them" in part or language.is_said("quantity", part)
            for number in _NUMBER.findall(part)
        ]


def _as_order(line: Line) -> Order:
    return {"titles": [line["title"]], "categories": [line["category"]]}


def _meant(names: dict[str, tuple[str, ...]], text: str) -> str | None:
    for name, phrases in names.items():
        if any(language.is_said(phrase, text) for phrase in phrases):
            return name
    return None
