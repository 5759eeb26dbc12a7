"""Conditions on which a store's rules may depend: their names, their values, and how policies word them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

DEPARTMENT = "department"
TIER = "membership_tier"
AMOUNT = "order_amount"
SEASON = "season"
ITEM_CONDITION = "item_condition"
REASON = "reason"

TIERS = ("standard", "gold", "platinum", "diamond")
"""Membership tiers of the store, lowest first."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Something about a customer's situation that a rule may depend on."""

    name: str
    label: str
    """What policies and people call it."""
    values: tuple[str, ...]
    """Its possible values; empty if they come from the catalog (department) or are sums of money (order amount)."""
    clauses: tuple[str, ...]
    """Clauses with which a policy says that it has a value, with ``%s`` for the value."""


_ALL = (
    Condition(
        DEPARTMENT,
        "department",
        (),
        ("for items from the %s department", "in the %s department", "for goods of the %s department"),
    ),
    Condition(TIER, "membership tier", TIERS, ("for %s members", "with a %s membership", "if you are a %s member")),
    Condition(
        ITEM_CONDITION,
        "condition of the item",
        ("sealed", "opened", "damaged", "assembled"),
        ("if the item is %s", "for %s items", "when the item is %s"),
    ),
    Condition(
        REASON,
        "reason",
        ("change of mind", "wrong size", "manufacturing defect", "late arrival"),
        ("where the reason is %s", "with %s as the reason", "if you name %s as the reason"),
    ),
    Condition(
        "payment_method",
        "payment method",
        ("credit card", "debit card", "bank transfer", "voucher", "cash"),
        ("for payment by %s", "if you paid by %s", "when paid by %s"),
    ),
    Condition(
        "delivery_region",
        "delivery region",
        ("the capital", "the provinces", "Canada", "Europe"),
        ("for addresses in %s", "if the address is in %s", "for customers in %s"),
    ),
    Condition(
        SEASON,
        "season",
        ("spring sale", "summer sale", "holiday sale", "regular season"),
        ("for purchases in the %s", "during the %s", "if bought in the %s"),
    ),
    Condition(
        "sales_channel",
        "sales channel",
        ("website", "mobile app", "telephone", "mail order form"),
        ("for purchases made through the %s", "if you used the %s", "when bought through the %s"),
    ),
    Condition(
        "shipping_speed",
        "shipping speed",
        ("economy", "priority", "express", "overnight"),
        ("with %s shipping", "for %s shipping", "if you chose %s shipping"),
    ),
    Condition(
        "account_type",
        "account type",
        ("private", "business", "student", "senior"),
        ("for %s accounts", "with a %s account", "if yours is a %s account"),
    ),
    Condition(AMOUNT, "order amount", (), ("for orders %s", "if the order is %s", "with an order %s")),
)

CONDITIONS: Mapping[str, Condition] = MappingProxyType({condition.name: condition for condition in _ALL})
"""Every condition by name."""

_SALE_MONTHS: Mapping[str, tuple[int, ...]] = {
    "spring sale": (3, 4, 5),
    "summer sale": (6, 7, 8),
    "holiday sale": (11, 12),
}
"""The months in which a sale may be; the regular season is between the sales of any month."""
_CONTRADICTIONS = (frozenset({(ITEM_CONDITION, "sealed"), (REASON, "manufacturing defect")}),)
"""Pairs of condition and value that are not true of one purchase."""


def may_be_in_season(day: date, season: str) -> bool:
    """Tell whether something bought on a day can have been bought in a season.

    >>> may_be_in_season(date(2025, 10, 9), "summer sale"), may_be_in_season(date(2025, 10, 9), "regular season")
    (False, True)
    """
    return season not in _SALE_MONTHS or day.month in _SALE_MONTHS[season]


def agrees(name: str, value: object, situation: Mapping[str, object]) -> bool:
    """Tell whether a value of a condition can be true together with the rest of a situation."""
    told = {(other, situation[other]) for other in situation}
    return not any((name, value) in pair and pair - {(name, value)} <= told for pair in _CONTRADICTIONS)


@dataclass(frozen=True, slots=True)
class Band:
    """A range of order amounts in whole dollars."""

    least: int
    below: int | None
    """None: no upper end."""

    def holds(self, amount: float) -> bool:
        """Tell whether an amount in dollars lies in the band; the lower end is included, the upper is not."""
        return self.least <= amount and (self.below is None or amount < self.below)

    def __str__(self) -> str:
        if self.below is None:
            return f"of ${self.least} or more"
        return f"from ${self.least} to below ${self.below}" if self.least else f"below ${self.below}"


Situation = Mapping[str, str | int]
"""A customer's situation: name of a condition → value; the order amount is in whole dollars."""
