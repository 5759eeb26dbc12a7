"""What customers ask about the store's rules: templates of questions, and sentences for the opening."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ecom_rlve.envs.language.frames import frames_in
from ecom_rlve.envs.policy.topics import ONLINE_RETURN, RESTOCKING

Form = Literal["figure", "deadline", "share"]


@dataclass(frozen=True, slots=True)
class Question:
    """One template of a question."""

    key: str
    topic: str
    form: Form
    """What is asked for. ``figure``: the rule's figure; ``deadline``: a given date plus the figure in days; ``share``:
    the figure as a percentage of a given price, in dollars."""
    asks: tuple[str, ...]
    """Indirect questions, with ``{date}`` or ``{money}`` for the given date or price."""


def _figure(topic: str, *asks: str, key: str = "") -> Question:
    return Question(key or topic, topic, "figure", asks)


def _deadline(topic: str, *asks: str) -> Question:
    return Question(f"{topic}_deadline", topic, "deadline", asks)


def _share(topic: str, *asks: str) -> Question:
    return Question(f"{topic}_share", topic, "share", asks)


QUESTIONS: tuple[Question, ...] = (
    _figure(
        "shop_return",
        "how many days I have to bring back something I bought in one of your shops",
        "how many days the in-shop return window is",
        "within how many days things bought in a shop can be brought back",
    ),
    _deadline(
        "shop_return",
        "by which date I must bring back what I bought in one of your shops on {date}",
        "what the last day is to bring back something I bought in your shop on {date}",
        "when the in-shop return window ends for a purchase made on {date}",
    ),
    _figure(
        "price_protection",
        "for how many days you refund the difference if the price drops",
        "how many days your price protection period is",
        "how many days after the purchase I still get the difference when a price drops",
    ),
    _deadline(
        "price_protection",
        "until which date you refund the difference if the price of what I bought on {date} drops",
        "what the last day of the price protection is for a purchase made on {date}",
        "when the price protection period ends for something I bought on {date}",
    ),
    _figure(
        "cancellation",
        "how many hours I have for cancelling an order free of charge",
        "how many hours the cancellation period is",
        "within how many hours an order can be cancelled without cost",
    ),
    _figure(
        "refund_time",
        "how many hours processing a refund takes",
        "how many hours the refund processing time is",
        "after how many hours of processing the money of a refund arrives",
    ),
    _figure(
        "delivery_fee",
        "how much the delivery fee is",
        "what flat fee you charge for delivery",
        "how many dollars of delivery fee I pay for an order",
    ),
    _figure(
        "free_delivery",
        "from which order value delivery is free",
        "what the free delivery threshold is in dollars",
        "how much I must spend to reach the threshold for free delivery",
    ),
    _figure(
        "warranty",
        "how many weeks the store warranty lasts",
        "for how many weeks I am covered by your store warranty",
        "how many weeks of store warranty there are on an item",
    ),
    _figure(
        "gift_card",
        "how many days a gift card stays valid",
        "for how many days a gift card can be redeemed",
        "how many days the validity of a gift card is",
    ),
    _deadline(
        "gift_card",
        "until which date a gift card purchased on {date} stays valid",
        "what the last day is on which I can redeem a gift card from {date}",
        "on which date a gift card I got on {date} stops being valid",
    ),
    _figure(
        "loyalty",
        "how many loyalty points I earn for each $100",
        "how many points a purchase of $100 brings to my loyalty balance",
        "how many loyalty points there are for every $100 spent",
    ),
    _figure(
        "credit_bonus",
        "what bonus in percent you add if I take a refund as store credit",
        "how many percent the store credit bonus is",
        "what percentage I get as a bonus for accepting store credit",
    ),
    _share(
        "credit_bonus",
        "how many dollars the bonus is if I take my refund of {money} as store credit",
        "what store credit bonus in dollars I get on a refund of {money}",
        "how much money the bonus for accepting store credit makes on a refund of {money}",
    ),
    _figure(
        "deposit",
        "what deposit in percent a pre-order takes",
        "how many percent the pre-order deposit is",
        "what percentage of the price I must pay as a deposit on a pre-order",
    ),
    _share(
        "deposit",
        "how many dollars the deposit is on a pre-order of {money}",
        "what pre-order deposit in dollars I pay for an item priced {money}",
        "how much money you take as a deposit if I pre-order something for {money}",
    ),
    _figure(
        "pickup",
        "for how many hours you hold an order for pickup",
        "how many hours the pickup holding time is",
        "how many hours you keep an order ready for pickup at the counter",
    ),
    _figure(
        "damage_report",
        "within how many hours transport damage has to be reported",
        "how many hours I have for reporting damage done in transport",
        "how many hours the transport damage deadline is",
    ),
    _figure(
        "gift_wrap",
        "how much the gift wrapping fee is",
        "what you charge for wrapping an item as a gift",
        "how many dollars gift wrapping costs",
    ),
    _figure(
        "trade_in",
        "what percentage of the original price you pay for a trade-in",
        "how many percent the trade-in rate is",
        "what I earn in percent for the trade-in of an old item",
    ),
    _share(
        "trade_in",
        "how many dollars you pay for a trade-in that once cost {money}",
        "what I earn in dollars for the trade-in of an old item with an original price of {money}",
        "how much money the trade-in of something that cost {money} brings",
    ),
    _figure(
        ONLINE_RETURN,
        "how many days I have to send back something I ordered online, no final sale",
        "how many days the online return window is for a regular item",
        "within how many days something ordered online, not as final sale, can be returned",
    ),
    _figure(
        ONLINE_RETURN,
        "how many days I have to exchange something I ordered online, no final sale",
        "within how many days a regular item ordered online can be exchanged",
        "how many days there are for an exchange of what I ordered online, not as final sale",
        key="online_exchange",
    ),
    _deadline(
        ONLINE_RETURN,
        "by which date I must send back what I ordered online, no final sale, and got on {date}",
        "what the last day is to return a regular item ordered online that was delivered on {date}",
        "when the online return window ends for a regular item delivered on {date}",
    ),
    _share(
        RESTOCKING,
        "how many dollars the restocking fee is for returning something ordered online for {money}",
        "what the online restocking fee is in dollars for an item priced {money}",
        "how much money is taken as a restocking fee when I return an online order of {money}",
    ),
)
"""All templates of questions."""

OPENING = frames_in(__package__)["open_policy"]
"""Opens with a question about the rules."""
