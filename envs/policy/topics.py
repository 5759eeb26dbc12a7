"""What a store has rules about: unit, range, possible conditions and sentences of each topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from ecom_rlve.envs.policy.conditions import DEPARTMENT, TIER

ONLINE_RETURN = "online_return"
RESTOCKING = "restocking"


@dataclass(frozen=True, slots=True)
class Topic:
    """One thing that a rule sets a figure for.

    If a question may ask for the figure itself, the base is uniform over at least 120 steps, so that no figure is worth
    guessing. ``low`` is more than all conditions together can subtract, so that every figure is positive.
    """

    key: str
    title: str
    """What the store calls it, without an article."""
    unit: str
    """``days``, ``weeks``, ``hours``, ``percent``, ``points`` or ``USD``."""
    step: Fraction
    """Size of one step, in the unit."""
    low: int
    high: int
    """Bounds of a base in steps, both included."""
    span: int
    """Most steps that one condition adds or subtracts."""
    conditions: tuple[str, ...]
    """Names of the conditions that a rule may have."""
    says: tuple[str, ...]
    """Sentences that state the base, with ``%s`` for it."""
    counted_from: str = ""
    """The day from which a period of days is counted; empty if no question asks for its last day."""
    is_ordered: bool = False
    """Conditions are taken in the listed order, and none replaces the base. So it is for online returns, because the
    return tools know no other condition of an order line."""


def _pool(letters: str) -> tuple[str, ...]:
    """Return the names of conditions, given by their letters."""
    names = {
        "D": DEPARTMENT,
        "T": TIER,
        "I": "item_condition",
        "R": "reason",
        "P": "payment_method",
        "G": "delivery_region",
        "S": "season",
        "C": "sales_channel",
        "V": "shipping_speed",
        "A": "account_type",
        "M": "order_amount",
    }
    return tuple(names[letter] for letter in letters)


_ONE, _TENTH, _TWENTIETH, _HALF = Fraction(1), Fraction(1, 10), Fraction(1, 20), Fraction(1, 2)
_STORE_TOPICS = (
    Topic(
        "shop_return", "in-shop return window", "days", _ONE, 90, 345, 12, _pool("DTIRPSAM"),
        (
            "Goods bought in one of our shops may be brought back within %s.",
            "You have %s to bring back goods that you bought in a shop of ours.",
            "The base for bringing back what was bought in a shop is %s.",
        ),
        counted_from="purchase",
    ),
    Topic(
        "price_protection", "price protection period", "days", _ONE, 90, 345, 12, _pool("DTPGSCAM"),
        (
            "If a price drops after the purchase, we refund the difference for %s.",
            "The difference is refunded when the price drops within %s of the purchase.",
            "Our price protection covers a price that drops within %s.",
        ),
        counted_from="purchase",
    ),
    Topic(
        "cancellation", "cancellation period", "hours", _ONE, 90, 345, 12, _pool("DTPGSCVAM"),
        (
            "An order can be cancelled free of charge within %s of being placed.",
            "You may cancel an order without cost for %s.",
            "Cancelling an order is free during the first %s.",
        ),
    ),
    Topic(
        "refund_time", "refund processing time", "hours", _ONE, 90, 345, 12, _pool("DTIRPGCAM"),
        (
            "A refund is paid out within %s of our receiving the goods.",
            "Processing a refund takes %s.",
            "The money of a refund arrives after %s of processing.",
        ),
    ),
    Topic(
        "delivery_fee", "delivery fee", "USD", _TWENTIETH, 160, 640, 20, _pool("DTPGSCVAM"),
        (
            "The delivery fee is %s per order.",
            "Having an order delivered costs a fee of %s.",
            "For delivery we charge a flat fee of %s.",
        ),
    ),
    Topic(
        "free_delivery", "free delivery threshold", "USD", _HALF, 120, 600, 16, _pool("DTPGSCVA"),
        (
            "Orders from %s upwards are delivered free.",
            "Delivery is free once an order reaches the threshold of %s.",
            "The threshold for free delivery is %s.",
        ),
    ),
    Topic(
        "warranty", "store warranty", "weeks", _ONE, 90, 345, 12, _pool("DTIPGSCA"),
        (
            "Our store warranty covers repairs for %s.",
            "Under the store warranty an item is repaired at no cost for %s.",
            "The store warranty lasts %s.",
        ),
    ),
    Topic(
        "gift_card", "gift card validity", "days", _ONE, 200, 700, 20, _pool("TPGSCAM"),
        (
            "A gift card stays valid for %s.",
            "Gift cards can be redeemed for %s.",
            "The validity of a gift card is %s.",
        ),
        counted_from="purchase",
    ),
    Topic(
        "loyalty", "loyalty points", "points", _ONE, 150, 600, 20, _pool("DTPGSCAM"),
        (
            "For each $100 spent you earn %s.",
            "Every $100 of a purchase brings %s to your loyalty balance.",
            "Loyalty points: $100 spent earn %s.",
        ),
    ),
    Topic(
        "credit_bonus", "store credit bonus", "percent", _TENTH, 150, 450, 20, _pool("DTIRPSCA"),
        (
            "If you take a refund as store credit, we add a bonus of %s.",
            "Store credit instead of a refund carries a bonus of %s.",
            "The bonus for accepting store credit is %s.",
        ),
    ),
    Topic(
        "deposit", "pre-order deposit", "percent", _TENTH, 150, 450, 20, _pool("DTPGSCA"),
        (
            "A pre-order takes a deposit of %s of the price.",
            "The deposit on a pre-order is %s of the price.",
            "To pre-order an item you pay %s of its price as a deposit.",
        ),
    ),
    Topic(
        "pickup", "pickup holding time", "hours", _ONE, 90, 345, 12, _pool("DTPSCAM"),
        (
            "An order for pickup is held at the counter for %s.",
            "We keep an order ready for pickup for %s.",
            "The holding time of a pickup order is %s.",
        ),
    ),
    Topic(
        "damage_report", "transport damage deadline", "hours", _ONE, 120, 375, 12, _pool("DTPGSCVAM"),
        (
            "Damage done in transport must be reported within %s of delivery.",
            "Report transport damage within %s.",
            "We accept reports of transport damage for %s.",
        ),
    ),
    Topic(
        "gift_wrap", "gift wrapping fee", "USD", _TWENTIETH, 160, 640, 20, _pool("DTPSCVAM"),
        (
            "Gift wrapping costs %s per item.",
            "We wrap an item as a gift for a fee of %s.",
            "The fee for gift wrapping is %s.",
        ),
    ),
    Topic(
        "trade_in", "trade-in rate", "percent", _TENTH, 200, 600, 25, _pool("DTIPSCA"),
        (
            "For a trade-in we pay %s of the original price.",
            "The trade-in rate is %s of what the item once cost.",
            "Trading in an old item earns %s of its original price.",
        ),
    ),
)  # fmt: skip

_RETURN_TOPICS = (
    Topic(
        ONLINE_RETURN, "online return window", "days", _ONE, 30, 229, 12, (DEPARTMENT, TIER),
        (
            "What was ordered online can be returned or exchanged within %s.",
            "You have %s to return or exchange what you ordered online.",
            "Online orders may be sent back, for a refund or an exchange, within %s.",
        ),
        counted_from="delivery",
        is_ordered=True,
    ),
    Topic(
        RESTOCKING, "online restocking fee", "percent", _ONE, 10, 40, 4, (DEPARTMENT, TIER),
        (
            "A refund for a return of an online order is reduced by a restocking fee of %s of the price.",
            "The restocking fee for an online order is %s of the price of what is returned.",
            "Returning what was ordered online costs a restocking fee of %s of its price.",
        ),
        is_ordered=True,
    ),
)  # fmt: skip

TOPICS: Mapping[str, Topic] = MappingProxyType({topic.key: topic for topic in (*_STORE_TOPICS, *_RETURN_TOPICS)})
"""Every topic by key."""
