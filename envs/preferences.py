"""What a customer prefers among products that fit: price, rating, delivery and brand, one of them above all (SPEC §6).

Preferences are a function of the goal: a dimension counts where the goal constrains it, the top priority weighs 0.7,
the others share 0.3. Every dimension is min–max scaled over the products that fit, so a brand, which all of them meet,
tells none of them from another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import lcm

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.catalog.table import Catalog
from ecom_rlve.envs.ranking import Gains, min_max
from ecom_rlve.envs.simulator.acts import Fact, SlotKind

DIMENSIONS: Mapping[str, str] = {"price": "price", "rating": "rating", "ship_days": "delivery time", "brand": "brand"}
"""What the persona may value, with what the customer calls it."""

_TOP, _REST = 7, 3
"""Tenths of the utility: the top priority's, and what the others share."""
_HUNDREDTHS_OF_A_STAR = 100
_PRIORITY = SlotKind(
    name="priority",
    label="top priority",
    forms=(
        ("chosen for the %s above all", "the %s matters most to me"),
        ("picked by the %s first of all", "the %s is what I look at first"),
        ("with the %s as what counts most", "what counts most for me is the %s"),
    ),
    words=(
        "priority", "matters most", "matter most", "matters the most", "matter the most", "most important",
        "main thing", "counts most", "count most", "counts the most", "care most", "care about most", "value most",
        "main criterion", "comes first",
    ),
    values=tuple(DIMENSIONS.values()),
    is_circumstance=True,
)  # fmt: skip


def priority_fact(dimension: str) -> Fact:
    """Return the top priority as a fact the customer can tell."""
    return Fact("priority", Constraint("priority", Op.EQ, DIMENSIONS[dimension]), kind=_PRIORITY)


def gains(catalog: Catalog, rows: NDArray[np.int32], dimensions: Sequence[str], priority: str) -> Gains:
    """Return ¼ + ¾û for each of ``rows`` (ascending): û is the utility, min–max scaled over them.

    ``dimensions`` are those that the goal constrains, ``priority`` is one of them. Cheaper, better rated and faster is
    better; ratings count in hundredths of a star.
    """
    weights = dict.fromkeys(dimensions, _REST)
    weights[priority] = _TOP * max(1, len(dimensions) - 1)
    scaled = {name: min_max(_worth(catalog, rows, name)) for name in dimensions if name != "brand"}
    common = lcm(*(size for _, size in scaled.values()))
    utility = np.zeros(len(rows), dtype=np.int64)
    for name, (numerators, size) in scaled.items():
        utility += weights[name] * (common // size) * numerators
    numerators, size = min_max(utility)
    return Gains(rows, size + 3 * numerators, 4 * size)


def _worth(catalog: Catalog, rows: NDArray[np.int32], dimension: str) -> NDArray[np.int64]:
    values = catalog.column(dimension).values[rows].astype(np.float64)
    if dimension == "rating":
        return np.rint(values * _HUNDREDTHS_OF_A_STAR).astype(np.int64)
    return -np.rint(values).astype(np.int64)
