"""Wishes for a kind of thing: constraints that a given product meets, easy to say and supported by search filters."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.columns.aisle import Aisle
from ecom_rlve.catalog.constraints import Constraint, Op, all_met
from ecom_rlve.envs.world.shop import Shop

_BOUNDS = {"at_most": Op.AT_MOST, "at_least": Op.AT_LEAST}
_LEAST_LEFT = 3
"""A selective wish leaves at least so many products."""
_MOST_LEFT = 0.75
"""A selective wish leaves at most this share of the products."""


def draw_wishes(
    shop: Shop, row: int, aisle: Aisle, among: NDArray[np.bool_], count: int, rng: Generator
) -> tuple[tuple[Constraint, ...], NDArray[np.bool_]]:
    """Return ``count`` different constraints that a product meets, and which products meet them all.

    ``among`` tells which products of the aisle count. Selective wishes come first: they leave some of these products
    but not most. The order of attributes does not depend on ``count``. If too little is known about the product, there
    are fewer constraints.
    """
    wishes: list[Constraint] = []
    others: list[Constraint] = []
    possible = conditions(shop, row)
    choice = int(np.count_nonzero(among))
    for at in rng.permutation(len(possible)).tolist():
        if len(wishes) == count:
            break
        narrowed = all_met(aisle, [possible[at]], among)
        left = int(np.count_nonzero(narrowed))
        if _LEAST_LEFT <= left <= _MOST_LEFT * choice:
            wishes.append(possible[at])
            among, choice = narrowed, left
        else:
            others.append(possible[at])
    more = others[: count - len(wishes)]
    return (*wishes, *more), all_met(aisle, more, among)


@lru_cache(maxsize=4096)
def conditions(shop: Shop, row: int) -> tuple[Constraint, ...]:
    """Return the possible wishes: words of the product's card, and its numbers as bounds in their natural direction.

    The attribute in which its category comes in variants is left out: it does not describe the product.
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
    """Tell whether a number has at most one decimal, as in speech."""
    return number * 10 == int(number * 10)
