"""The visit history: families of three lookalikes, in which a target is no oddity (SPEC §6, CART)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from numpy.random import Generator

from ecom_rlve.streams import in_random_order

_FAMILY = 3
_HELD = 0.5
"""Probability that a target's family holds it."""
_TRIES = 40


def families(targets: int) -> int:
    """Return how many families a history has: max(4, 2n + 2), at least half of them without a target."""
    return max(4, 2 * targets + 2)


def candidates(targets: int) -> float:
    """Return 1 / (the probability that an entry picked blindly is the target of a history that may hold it)."""
    return families(targets) * _FAMILY / _HELD


def draw_history(
    rng: Generator,
    targets: Sequence[tuple[int, str]],
    kinds: Sequence[str],
    pick: Callable[[str], int | None],
) -> tuple[int, ...]:
    """Return the rows of a visit history in the order shown.

    One family per target (a row and its category), holding it with probability ½, and others without a target.
    ``kinds`` are the categories that families may have; ``pick(category)`` returns a random eligible row, the same way
    for every family. A family is smaller where its kind has too few distinct rows.
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
        for _ in range(_TRIES):
            if len(family) == _FAMILY:
                break
            row = pick(category)
            if row is not None and row not in taken:
                taken.add(row)
                family.append(row)
        rows += family
    return tuple(rows[at] for at in rng.permutation(len(rows)).tolist())
