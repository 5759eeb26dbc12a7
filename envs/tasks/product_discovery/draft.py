"""What one draw of PD came to, before it is known whether it can be the goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.aisle import Aisle
from ecom_rlve.catalog.constraints import Constraint, all_met
from ecom_rlve.envs.parts.recommendation import Rows
from ecom_rlve.envs.tasks.product_discovery.forms import filtered

LEAST_NDCG = Fraction(90, 100)
"""nDCG from which on a list is correct (SPEC §6, PD)."""


@dataclass(frozen=True, eq=False, slots=True)
class Draft:
    """Constraints, the one on the price first, and the products that meet them."""

    constraints: tuple[Constraint, ...]
    fitting: Rows
    """Ascending; some of them may sell out."""
    priority: str
    looked_through: int
    """How many products pass the filters that say as much of the constraints as filters can."""
    revised: tuple[int, Draft] | None = None
    """Position of the constraint that the customer revises, and what they want then."""


def looked_through(aisle: Aisle, constraints: Sequence[Constraint], can_buy: NDArray[np.bool_]) -> int:
    """Return how many products of an aisle pass the filters of constraints."""
    return int(np.count_nonzero(all_met(aisle, filtered(constraints), can_buy)))
