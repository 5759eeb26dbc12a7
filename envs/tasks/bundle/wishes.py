"""Wishes that a product meets: conditions a customer may have for a kind of thing, each one sayable and filterable."""

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
"""Products that a telling wish leaves to choose from."""
_MOST_LEFT = 0.75
"""Share of the products that a telling wish leaves at most."""


def draw_wishes(
    shop: Shop, row: int, aisle: Aisle, among: NDArray[np.bool_], count: int, rng: Generator
) -> tuple[tuple[Constraint, ...], NDArray[np.bool_]]:
    """Return ``count`` different conditions that a product meets, and which products meet them all.

    ``among`` tells which products of its aisle there are to choose from. Conditions that leave some of them, but not
    most, come first; attributes come in an order that does not depend on ``count``. There are fewer where so much is
    not known of the product.
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
