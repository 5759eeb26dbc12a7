"""Wishes for a kind of thing: constraints that a given product meets, easy to say and supported by search filters."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.columns.aisle import Aisle
from ecom_rlve.catalog.constraints import Constraint, Op, all_met
from ecom_rlve.envs.parts.constraints import LEAST_RATING, sayable, wishable
from ecom_rlve.envs.world.shop import Shop

_ALL = slice(None)
_BOUNDS = {"at_most": Op.AT_MOST, "at_least": Op.AT_LEAST}
_LEAST_LEFT = 6
"""All wishes together leave at least so many products: some of them may sell out (SPEC §6)."""
_MOST_LEFT = 0.75
"""A selective wish leaves at most this share of the products."""


def draw_wishes(
    shop: Shop, row: int, aisle: Aisle, among: NDArray[np.bool_], count: int, rng: Generator
) -> tuple[tuple[Constraint, ...], NDArray[np.bool_]]:
    """Return ``count`` different constraints that a product meets, and which products meet them all: six or more.

    ``among`` tells which products of the aisle count; they are six or more. The first is a word that few of them have,
    where there is one. Then selective wishes come before others: they leave some of the products but not most. Bounds
    move until they leave enough. If too little is known about the product, there are fewer constraints.
    """
    known = conditions(shop, row)
    possible = [known[at] for at in rng.permutation(len(known)).tolist()]
    first = _telling(aisle, possible, among)
    wishes: list[Constraint] = []
    others: list[Constraint] = []
    for each in [first, *(each for each in possible if each is not first)]:
        if len(wishes) == count:
            break
        wish, narrowed = _loosened(aisle, each, among)
        left = int(np.count_nonzero(narrowed))
        if left < _LEAST_LEFT:
            continue
        if each is first or left <= _MOST_LEFT * np.count_nonzero(among):
            wishes.append(wish)
            among = narrowed
        else:
            others.append(wish)
    for each in others:
        wish, narrowed = _loosened(aisle, each, among)
        if len(wishes) < count and np.count_nonzero(narrowed) >= _LEAST_LEFT:
            wishes.append(wish)
            among = narrowed
    return tuple(wishes), among


def _telling(aisle: Aisle, possible: list[Constraint], among: NDArray[np.bool_]) -> Constraint:
    """Return the word that the fewest products have, but enough of them; without one what leaves the fewest."""
    words = [each for each in possible if each.op is Op.EQ]
    # Bounds, which are dear to loosen, count only where no word will do.
    left = _enough_left(aisle, words, among) or _enough_left(aisle, possible, among)
    return min(left, key=left.__getitem__)


def _enough_left(aisle: Aisle, possible: list[Constraint], among: NDArray[np.bool_]) -> dict[Constraint, int]:
    """Return how many products each wish leaves, without those that leave too few."""
    left = {each: int(np.count_nonzero(_loosened(aisle, each, among)[1])) for each in possible}
    return {each: count for each, count in left.items() if count >= _LEAST_LEFT}


def _loosened(aisle: Aisle, wish: Constraint, among: NDArray[np.bool_]) -> tuple[Constraint, NDArray[np.bool_]]:
    """Return a wish and which of the products meet it; a bound is moved until enough do, a word stays as it is."""
    narrowed = all_met(aisle, [wish], among)
    if wish.op is Op.EQ or np.count_nonzero(narrowed) >= _LEAST_LEFT:
        return wish, narrowed
    wish = _moved(aisle, wish, among)
    return wish, all_met(aisle, [wish], among)


def _moved(aisle: Aisle, bound: Constraint, among: NDArray[np.bool_]) -> Constraint:
    """Return a bound moved to the nearest product, one after another, until enough meet it or all that can do.

    It is :func:`~ecom_rlve.envs.parts.constraints.widened` for one bound, without its distances.
    """
    name, limit, is_most = bound.attribute, bound.value, bound.op is Op.AT_MOST
    numbers = aisle.column(name).values[_ALL][among]
    for met, number in enumerate(sorted(numbers[wishable(name, numbers)].tolist(), reverse=not is_most)):
        if number > limit if is_most else number < limit:
            if met >= _LEAST_LEFT:
                break
            limit = sayable(name, number, up=is_most)
    return replace(bound, value=limit)


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
    if card.get("rating", 0) >= LEAST_RATING and is_sayable(card["rating"]):
        found.append(Constraint("rating", Op.AT_LEAST, card["rating"]))
    return (*found, Constraint("ship_days", Op.AT_MOST, card["ship_days"]))


def is_sayable(number: float) -> bool:
    """Tell whether a number has at most one decimal, as in speech."""
    return number * 10 == int(number * 10)
