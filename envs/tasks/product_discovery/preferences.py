"""Which of the fitting products a customer prefers, by price, rating, delivery and brand (SPEC §6).

Preferences follow from the goal: a dimension counts if the goal constrains it. The top priority weighs 0.7, the others
share 0.3. Each dimension is worth 0 at the customer's limit and 1 at the best possible value: price 0, five stars,
delivery the next day; the limit of a range of prices is the highest. All fitting products meet a constraint on the
brand, so the brand makes no difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import lcm

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.constraints import Constraint, Op, ends
from ecom_rlve.envs.language.acts import Fact, SlotKind
from ecom_rlve.envs.parts.scores import Gains, min_max

DIMENSIONS: Mapping[str, str] = {"price": "price", "rating": "rating", "ship_days": "delivery time", "brand": "brand"}
"""The dimensions, and what the customer calls them."""

_TOP, _REST = 7, 3
"""Weights in tenths: of the top priority, and of all others together."""
_BEST: Mapping[str, float] = {"price": 0, "rating": 5, "ship_days": 1}
_HUNDREDTHS = 100
_PRIORITY = SlotKind(
    name="priority",
    label="top priority",
    words=(
        "priority", "matters most", "matter most", "matters the most", "matter the most", "most important",
        "main thing", "counts most", "count most", "counts the most", "care most", "care about most", "value most",
        "main criterion", "comes first",
    ),
    values=tuple(DIMENSIONS.values()),
    is_circumstance=True,
)  # fmt: skip


def priority_fact(dimension: str) -> Fact:
    """Return the top priority as a fact that the customer can tell."""
    return Fact("priority", Constraint("priority", Op.EQ, DIMENSIONS[dimension]), kind=_PRIORITY)


def gains(catalog: Catalog, rows: NDArray[np.int32], constraints: Sequence[Constraint], priority: str) -> Gains:
    """Return ¼ + ¾û for each of ``rows`` (ascending), where û is the utility, min–max scaled over them.

    All ``rows`` meet the constraints; ``priority`` is one of their :func:`dimensions_of`. Prices are in cents, ratings
    in hundredths of a star, delivery in days.
    """
    dimensions = dimensions_of(constraints)
    scaled = [_worth(catalog, rows, dimensions[name]) for name in dimensions]
    common = lcm(*(size for _, size in scaled))
    utility = np.zeros(len(rows), dtype=np.int64)
    for name, (numerators, size) in zip(dimensions, scaled, strict=True):
        weight = _TOP * max(1, len(dimensions) - 1) if name == priority else _REST
        utility += weight * (common // size) * numerators
    numerators, size = min_max(utility)
    return Gains(rows, size + 3 * numerators, 4 * size)


def dimensions_of(constraints: Sequence[Constraint]) -> dict[str, Constraint]:
    """Return the constraints on dimensions, by dimension."""
    found = {constraint.attribute: constraint for constraint in constraints}
    return {name: found[name] for name in DIMENSIONS if name in found}


def _worth(catalog: Catalog, rows: NDArray[np.int32], limit: Constraint) -> tuple[NDArray[np.int64], int]:
    """Return how far products stay within a limit, 0 to 1: numerators, denominator; 1 if no value can be better."""
    name, bound = limit.attribute, limit.value
    if limit.op is Op.BETWEEN:
        # Of a range of prices the highest is the limit.
        _, bound = ends(limit)
    best = _BEST.get(name)
    if best is None or not isinstance(bound, int | float):
        return np.ones(len(rows), dtype=np.int64), 1
    unit = _HUNDREDTHS if name == "rating" else 1
    values = np.rint(catalog.column(name).values[rows] * float(unit)).astype(np.int64)
    end, width = round(bound * unit), abs(round((bound - best) * unit))
    return (np.abs(end - values), width) if width else (np.ones(len(rows), dtype=np.int64), 1)
