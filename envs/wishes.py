"""Wishes that a product meets: conditions a customer may have for a kind of thing, each one sayable and filterable."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.constraints import Constraint, Op, satisfied
from ecom_rlve.envs.shop import Shop

_BOUNDS = {"at_most": Op.AT_MOST, "at_least": Op.AT_LEAST}
_LEAST_LEFT = 3
"""Products that a telling wish leaves to choose from."""
_MOST_LEFT = 0.75
"""Share of the products that a telling wish leaves at most."""


def draw_wishes(shop: Shop, row: int, among: NDArray[np.int32], count: int, rng: Generator) -> tuple[Constraint, ...]:
    """Return ``count`` different conditions that a product meets, fewer where so much is not known of it.

    ``among`` are the products to choose from. Conditions that leave some of them, but not most, come first; attributes
    come in an order that does not depend on ``count``.
    """
    wishes: list[Constraint] = []
    others: list[Constraint] = []
    possible = conditions(shop, row)
    for at in rng.permutation(len(possible)).tolist():
        if len(wishes) == count:
            break
        left = among[satisfied(shop.catalog, possible[at], among)]
        if _LEAST_LEFT <= len(left) <= _MOST_LEFT * len(among):
            wishes.append(possible[at])
            among = left
        else:
            others.append(possible[at])
    return (*wishes, *others[: count - len(wishes)])


@lru_cache(maxsize=100_000)
def conditions(shop: Shop, row: int) -> tuple[Constraint, ...]:
    """Return what could be said of a product: words of its card, and its numbers as bounds in their natural direction.

    The attribute in which its category comes in variants says nothing of the product.
    """
    card = shop.card(row)
    found = []
    for name, attribute in ATTRIBUTES.items():
        value = card.get(name)
        if isinstance(value, str):
            found.append(Constraint(name, Op.EQ, value))
        elif value is not None and attribute.better is not None and is_sayable(value):
            found.append(Constraint(name, _BOUNDS[attribute.better], value))
    if "rating" in card and is_sayable(card["rating"]):
        found.append(Constraint("rating", Op.AT_LEAST, card["rating"]))
    return (*found, Constraint("ship_days", Op.AT_MOST, card["ship_days"]))


def is_sayable(number: float) -> bool:
    """Tell whether a number has at most one decimal, as people say them."""
    return number * 10 == int(number * 10)
