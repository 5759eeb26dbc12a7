"""The visit history: families of three similar products, so that a target does not stand out (SPEC §6, CART)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from numpy.random import Generator

from ecom_rlve.streams import in_random_order

_FAMILY = 3
_HELD = 0.5
"""Probability that the family made for a target holds it."""
_TRIES = 40
_TRIES_IN_SPLIT = 25
"""So many of the tries for a family are for products of the episode's split. Who has learned which products are ever
wanted would else know the target among products of other splits."""


def families(targets: int) -> int:
    """Return the number of families in a history: max(4, 2n + 2), so that at least half have no target."""
    return max(4, 2 * targets + 2)


def candidates(targets: int) -> float:
    """Return the inverse of the probability that an entry picked at random is the wanted one."""
    return families(targets) * _FAMILY / _HELD


def draw_history(
    rng: Generator,
    targets: Sequence[tuple[int, str]],
    kinds: Sequence[str],
    pick: Callable[[str, bool], int | None],
) -> tuple[int, ...]:
    """Return the rows of a visit history in the order shown.

    There is one family for each target (row, category), which holds the target with probability ½, and there are others
    without a target. ``kinds`` are the categories for the others. ``pick(category, is_of_split)`` returns a random
    eligible row, of the episode's split or of any, in the same way for all families. Those of the split come first; a
    family is smaller if its category has too few different rows.
    """
    taken = {row for row, _ in targets}
    strangers = families(len(targets)) - len(targets)
    held = {category for _, category in targets}
    free = [kind for kind in kinds if kind not in held] or list(kinds)
    order = list(islice(in_random_order(rng, len(free)), strangers))
    others = [free[order[at % len(order)]] for at in range(strangers)]
    rows: list[int] = []
    for number, category in enumerate([category for _, category in targets] + others):
        family = [targets[number][0]] if number < len(targets) and rng.random() < _HELD else []
        for attempt in range(_TRIES):
            if len(family) == _FAMILY:
                break
            row = pick(category, attempt < _TRIES_IN_SPLIT)
            if row is not None and row not in taken:
                taken.add(row)
                family.append(row)
        rows += family
    return tuple(rows[at] for at in rng.permutation(len(rows)).tolist())
