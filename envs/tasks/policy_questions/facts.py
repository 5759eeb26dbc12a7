"""The customer's situation as facts: how each condition is said and asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.envs.language.acts import Fact, SlotKind
from ecom_rlve.envs.policy.conditions import AMOUNT, CONDITIONS, DEPARTMENT, TIER
from ecom_rlve.envs.policy.money import PLAIN_DOLLARS, StoreMoney

_WORDS: Mapping[str, tuple[str, ...]] = {
    DEPARTMENT: (
        "product category", "category", "kind of item", "kind of product", "type of item", "type of product",
        "what did you buy", "what did you order", "what kind",
    ),
    TIER: (
        "membership", "tier", "member level", "membership level", "membership status", "loyalty tier", "loyalty level",
        "member",
    ),
    "item_condition": (
        "condition", "item condition", "state of the item", "opened", "unopened", "sealed", "packaging", "damaged",
        "assembled",
    ),
    "reason": ("why do you", "why did you", "why are you", "why would you", "cause"),
    "payment_method": (
        "payment", "pay", "paid", "way of paying", "method of payment", "payment type", "how did you pay",
        "how do you pay", "how will you pay", "how was it paid",
    ),
    "delivery_region": (
        "region", "address", "delivery address", "destination", "shipping address", "country", "delivery destination",
        "ship to", "where do you live", "where should it", "where is it", "location",
    ),
    "season": (
        "season of purchase", "sale", "sale period", "promotion", "when did you buy",
        "when was it bought", "when did you order", "time of purchase", "during which",
    ),
    "sales_channel": (
        "channel", "how did you order", "how did you buy", "where did you order", "where did you buy", "website",
        "app", "order channel", "ordering channel", "purchase channel",
    ),
    "shipping_speed": (
        "speed", "shipping method", "delivery method", "delivery speed", "shipping option", "delivery option",
        "shipping type", "how fast", "kind of shipping", "type of shipping",
    ),
    "account_type": ("account", "type of account", "kind of account", "customer type", "type of customer"),
    AMOUNT: (
        "amount", "order total", "total", "order value", "value of the order", "value of your order",
        "how much did you spend", "how much did you pay", "how much was", "how much is", "price", "cost",
        "amount of the order", "amount of your order", "how much", "how large", "how big",
    ),
}  # fmt: skip


@lru_cache(maxsize=256)
def kind_of(condition: str, departments: tuple[str, ...]) -> SlotKind:
    """Return the kind of fact for a condition, in a store with these departments."""
    values = departments if condition == DEPARTMENT else CONDITIONS[condition].values
    return SlotKind(
        name=condition,
        label=CONDITIONS[condition].label,
        words=_WORDS[condition],
        values=values,
        is_circumstance=True,
        phrased_as="policy_reason" if condition == "reason" else "",
    )


def fact_of(condition: str, value: str | int, departments: tuple[str, ...], money: StoreMoney = PLAIN_DOLLARS) -> Fact:
    """Return the fact that a condition has a value; an order amount is in whole dollars, which become ``money``."""
    kind = kind_of(condition, departments)
    if isinstance(value, int):
        amount = Constraint(condition, Op.EQ, float(value * money.scale))
        return Fact(condition, amount, kind=kind, spelled=money.spelled(f"${value}"))
    return Fact(condition, Constraint(condition, Op.EQ, value), kind=kind)
