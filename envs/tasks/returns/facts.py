"""The facts that the customer of a return can tell: about the order line, and about what they want done with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.catalog.product import Category
from ecom_rlve.envs.language.acts import Fact, SlotKind
from ecom_rlve.envs.parts.remembered import (
    DAY_WORDS,
    TOTAL_WORDS,
    Clue,
    count_fact,
    day_fact,
    money_fact,
    spelled_money,
    word_fact,
)
from ecom_rlve.envs.world.orders import Order, OrderLine

Candidate = tuple[Order, OrderLine]

_DAY = SlotKind(
    "order_date",
    "order date",
    DAY_WORDS,
    is_circumstance=True,
)
_TOTAL = SlotKind(
    "order_total",
    "order total",
    TOTAL_WORDS,
    is_circumstance=True,
)
_PRICE = SlotKind(
    "price_paid",
    "price paid",
    (
        "purchase price", "original price", "unit price", "paid", "pay", "price did you pay", "price you paid",
        "did it cost", "it cost", "price of each", "paid for it", "price per unit", "price per piece",
    ),
    is_circumstance=True,
)  # fmt: skip
_ANY_PRICE = replace(_PRICE, words=(*_PRICE.words, "price", "cost", "how much", "expensive"))
"""For customers who speak of no other price: then any word for a price means this one."""
_UNITS = SlotKind(
    "units_bought",
    "quantity bought",
    ("quantity", "how many", "units", "pieces", "number of", "number of units", "number of pieces", "qty"),
    is_circumstance=True,
)

REASONS: Mapping[str, str] = {
    "defective": "a defect",
    "damaged": "transport damage",
    "wrong_item": "the wrong item",
    "does_not_fit": "a poor fit",
    "not_as_described": "a misleading description",
    "changed_mind": "a change of mind",
    "arrived_late": "a belated delivery",
}
"""The store's reasons for a return, and what the customer calls each."""
_OF_SIZES = "does_not_fit"
"""A reason for things that come in sizes, and for no others."""
METHODS: Mapping[str, str] = {
    "original_payment": "a refund to my card",
    "store_credit": "store credit",
    "exchange": "an exchange",
}
"""The ways of compensation, and what the customer calls each."""

_REASON = SlotKind(
    "reason",
    "reason",
    (
        "return reason", "reason for the return", "why", "what is wrong", "what's wrong", "wrong with", "problem",
        "issue", "what happened", "matter with",
    ),
    tuple(REASONS.values()),
    is_circumstance=True,
)  # fmt: skip
_METHOD = SlotKind(
    "method",
    "compensation",
    (
        "method", "refund method", "return method", "refund", "refunded", "store credit", "credit", "money back",
        "exchange", "reimbursed", "compensated", "how would you like", "what would you like in return",
        "what do you want in return", "in return",
    ),
    tuple(METHODS.values()),
    is_circumstance=True,
)  # fmt: skip
_REPLACEMENT = SlotKind(
    "replacement",
    "after that",
    (
        "replacement", "replacement product", "replacement item", "replace", "replaced", "replacing", "substitute",
        "alternative", "another one", "new one", "new product", "different product", "another product", "instead",
    ),
    is_circumstance=True,
    is_of_all=True,
)  # fmt: skip


def fitting_reasons(category: Category) -> list[str]:
    """Return the store's names of the reasons for which a thing of this category can go back.

    Only what comes in sizes can fit a person badly.
    """
    return [name for name in REASONS if name != _OF_SIZES or category.variant_attribute == "size"]


def line_clues(
    order: Order, line: OrderLine, currency: str | None = None, *, has_other_price: bool
) -> dict[str, Clue[Candidate]]:
    """Return what the customer may remember of an order line, by name.

    ``currency`` is the catalog's. ``has_other_price``: the customer also speaks of the price of a replacement.
    """
    price_kind = _PRICE if has_other_price else _ANY_PRICE
    price = Fact(
        price_kind.name,
        Constraint("price", Op.EQ, line.price_cents),
        kind=price_kind,
        spelled=spelled_money(line.price_cents, currency),
    )
    return {
        "order_date": Clue(day_fact(_DAY, order.placed), lambda other: other[0].placed == order.placed),
        "order_total": Clue(
            money_fact(_TOTAL, order.total_cents, currency), lambda other: other[0].total_cents == order.total_cents
        ),
        "price_paid": Clue(price, lambda other: other[1].price_cents == line.price_cents),
        "units_bought": Clue(count_fact(_UNITS, line.quantity), lambda other: other[1].quantity == line.quantity),
    }


LISTED = ("order_date", "order_total")
"""Clues that ``order_list`` shows; for the others the agent must read the order."""


def wish_facts(reason: str, method: str, replacement: str) -> tuple[Fact, ...]:
    """Return the facts about what to do with the line; ``replacement``: what is wanted instead, or "no replacement"."""
    return (
        word_fact(_REASON, REASONS[reason]),
        word_fact(_METHOD, METHODS[method]),
        word_fact(_REPLACEMENT, replacement),
    )
