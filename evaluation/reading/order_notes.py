"""What an expert knows of the customer's orders, and which of them the customer's words are true of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from ecom_rlve.evaluation.agent import call
from ecom_rlve.evaluation.reading import language

Order = dict[str, Any]

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAY = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(_MONTHS)})\b")
_MONTH = re.compile(rf"\b(?:from|in|of) ({'|'.join(_MONTHS)})\b")
_PAGE = 50
_LONGEST_NAME = 4
_BEFORE_NAMES = frozenset(("a", "an", "the", "my", "of"))
_NO_NAMES = frozenset((
    "the", "a", "an", "and", "in", "for", "with", "from", "by", "to", "it", "order", "orders", "status", "day", "date",
    "arrival", "total", "item", "items", "compensation", "reason", "price", "quantity", "hand", "star", "rush", "hurry",
    "list", "lot", "bit", "look", "refund", "card", "exchange", "defect", "change", "mind", "fit", "poor", "wrong",
    "past", "whole", "new", "replacement", "delivery", "description", "each", "pair", "bag", "box", "tin",
    "particulars", "weekend", "shopping", "help", "way", "information", "details",
))  # fmt: skip
"""Words of titles that, in talk of orders, name no thing."""


@dataclass(slots=True)
class OrderNotes:
    """The customer's orders as far as they were listed."""

    orders: list[Order] = field(default_factory=list)
    """As ``order_list`` shows them, newest first."""
    total: int | None = None
    """How many there are; None before the first page."""

    def learn(self, result: dict[str, Any] | None) -> None:
        """Take in a page of the list."""
        if result is not None and "total_orders" in result:
            known = {order["order_id"] for order in self.orders}
            self.orders += [order for order in result["orders"] if order["order_id"] not in known]
            self.total = result["total_orders"]

    @property
    def next_page(self) -> dict[str, Any] | None:
        """The call that lists more; None where all are known."""
        if self.total is not None and len(self.orders) >= self.total:
            return None
        return call("order_list", limit=_PAGE, offset=len(self.orders))

    def things_named(self, text: str) -> list[str]:
        """Return the names of things in the customer's words that lines of orders have too, in their spelling."""
        titles = [language.words(name) for order in self.orders for name in (*order["titles"], *_kinds(order))]
        vocabulary = {word for title in titles for word in title}
        phrases = {
            tuple(title[start : start + length])
            for title in titles
            for length in range(1, _LONGEST_NAME + 1)
            for start in range(len(title) - length + 1)
        }
        tokens = language.words(text)
        spelled = [sorted(word for word in vocabulary if language.is_slip(token, word)) for token in tokens]
        found: dict[str, None] = {}
        at = 1
        while at < len(tokens):
            phrase = _longest(spelled[at : at + _LONGEST_NAME], phrases) if tokens[at - 1] in _BEFORE_NAMES else ()
            if phrase and not set(phrase) <= _NO_NAMES:
                found[" ".join(phrase)] = None
            at += max(1, len(phrase))
        return list(found)


def _longest(spelled: list[list[str]], phrases: set[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the longest phrase of a title that begins the words; empty where none does."""
    best: tuple[str, ...] = ()
    growing: list[tuple[str, ...]] = [()]
    for words in spelled:
        growing = [longer for phrase in growing for word in words if (longer := (*phrase, word)) in phrases]
        if not growing:
            break
        best = min(growing)
    return best


def holds(order: Order, name: str) -> bool:
    """Tell whether a title or a category of the order's lines names a thing."""
    return is_of_kind(order, name) or any(
        f" {name} " in f" {' '.join(language.words(each))} " for each in order["titles"]
    )


def is_of_kind(order: Order, name: str) -> bool:
    """Tell whether a category of the order's lines is what a thing is called."""
    return any(name == " ".join(language.words(kind)) for kind in _kinds(order))


def _kinds(order: Order) -> list[str]:
    return [form for category in order["categories"] for form in language.noun_forms(category)]


def days_said(text: str) -> list[tuple[int, int]]:
    """Return the days that a text names, as (day, month)."""
    return [(int(day), _MONTHS.index(month) + 1) for day, month in _DAY.findall(text)]


def months_said(text: str) -> list[int]:
    """Return the months that a text names without a day."""
    return [_MONTHS.index(month) + 1 for month in _MONTH.findall(text)]


def placed_on(order: Order) -> date:
    """Return the day on which an order was placed."""
    return date.fromisoformat(order["date"])


def kept(candidates: list[Any], tests: Iterable[Callable[[Any], bool]]) -> list[Any]:
    """Return the candidates that pass the tests; one that none of them passes is taken for a misunderstanding."""
    for test in tests:
        candidates = [candidate for candidate in candidates if test(candidate)] or candidates
    return candidates
