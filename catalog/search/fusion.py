"""How well products match a query: by their words and by their vectors, in one whole number.

Both scores are brought to the same scale and added, with fixed shares (a convex combination: Bruch, Gai, Ingber,
https://doi.org/10.1145/3596512). The score of words is a share of what a product would have whose title and category
hold every word sought, so that it does not depend on which other products there are. Where words do not tell products
apart, their vectors decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.words import Bags, Sought
from ecom_rlve.catalog.shop_words.asking import read_query
from ecom_rlve.catalog.shop_words.measures import is_quantity, same_measures
from ecom_rlve.catalog.shop_words.things import things_named
from ecom_rlve.catalog.vectors.scaling import LENGTH

_WORDS, _VECTORS = 3, 2
"""Shares of the two scores in their sum."""
_ONE_THING, _ONE_OF_THINGS, _WORD = 1, 16, 4
"""What the mark of a thing weighs, in quarters of a word as rare. Where a query names one thing, it breaks ties; where
it names others beside it, its products come first: each of several sought has results of its own."""
_DESCRIBED = 4
"""Words for another thing, which only describes the one sought, weigh so many times less."""
_BARE = 4
"""A number without the unit that was said weighs so many times less than a word as rare."""
_MOST_THINGS = 4
_GOOD_IMPACT = 160
"""Impact of a word on a product that has it in title and category."""
_STEPS = 1 << 8
"""Scores are told apart to this part of a whole number."""


class Asked(NamedTuple):
    """A query as a search reads it, about one thing."""

    vector: NDArray[np.float32]
    sought: Sought
    whole: int
    """Score of a product that has every word sought."""

    @property
    def is_known(self) -> bool:
        """Whether some product has a word, or a part of a word, of the query."""
        return bool(self.sought.weights) or bool(self.vector.any())


def asked_of(bags: Bags, vector: NDArray[np.float32], query: str) -> tuple[Asked, ...]:
    """Return what a query with this vector asks for: one entry for each thing that it names, at least one."""
    asking = read_query(query)
    measured = [group for group in asking.groups if is_quantity(group)]
    sought = bags.sought(group for group in asking.groups if group not in measured)
    weights, spare = dict(sought.weights), 0
    for group in measured:
        spare += _add_quantity(bags, weights, group)
    named = things_named(asking, bags.vocabulary.__contains__)
    for number in map(bags.vocabulary.number, named.described):
        if number in weights:
            weights[number] = max(1, weights[number] // _DESCRIBED)
    numbers = map(bags.vocabulary.number, named.sought)
    things = [number for number in numbers if number is not None][:_MOST_THINGS]
    share = _ONE_THING if len(things) == 1 and not named.described else _ONE_OF_THINGS
    marked = [{**weights, thing: int(bags.rarity[thing]) * share // _WORD} for thing in things] or [weights]
    return tuple(
        Asked(vector, Sought(each, sought.strange), max(1, (sum(each.values()) - spare) * _GOOD_IMPACT))
        for each in marked
    )


def _add_quantity(bags: Bags, weights: dict[int, int], group: Sequence[str]) -> int:
    """Add the words of a number with its unit; return what of their weights a product that has it may lack."""
    bare, measure = group
    readings = dict.fromkeys(map(bags.vocabulary.number, (measure, *same_measures(measure))))
    known = {number: int(bags.rarity[number]) for number in readings if number is not None}
    number = bags.vocabulary.number(bare)
    if number is not None:
        # 27 watts are not 27 inches, but a television 65 may be one of 65 inches.
        weights.setdefault(number, max(1, int(bags.rarity[number]) // (_BARE if known else 1)))
    for number, rarity in known.items():
        weights.setdefault(number, rarity)
    return sum(known.values()) - max(known.values(), default=0)


def fused(
    asked: Asked, words: NDArray[np.int64], products: NDArray[np.int64], most_product: int = LENGTH * LENGTH
) -> NDArray[np.int64]:
    """Return the joint score of products from the score of their words and the inner product of their vectors."""
    return _WORDS * (words * (most_product * _STEPS) // asked.whole) + _VECTORS * _STEPS * products


def in_turns(lists: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return the first of every list, then the second of every list, and so on; a row that comes again is left out.

    >>> in_turns([np.array([5, 6, 7]), np.array([6, 1])]).tolist()
    [5, 6, 1, 7]
    """
    if len(lists) == 1:
        return lists[0]
    longest = max(map(len, lists))
    turns = np.full((longest, len(lists)), -1, dtype=np.int32)
    for at, rows in enumerate(lists):
        turns[: len(rows), at] = rows
    every = turns[turns >= 0]
    _, firsts = np.unique(every, return_index=True)
    return every[np.sort(firsts)]
