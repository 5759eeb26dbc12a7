"""A replacement for a thing that goes back: the wishes for it, and how many of them a product meets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import numpy as np
from numpy.random import Generator

from ecom_rlve.catalog.constraints import Constraint, is_satisfied
from ecom_rlve.envs.parts.constraints import (
    natural_constraint,
    stated_price_bound,
    usable_in_categories,
    usable_names,
    usable_places,
)
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import Split

_TRIES = 40
_LEAST_ROWS = 6
"""Products that a kind must have, from which a replacement can be drawn."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """What the customer wants instead."""

    row: int
    """A product that meets all constraints; any other that does is as good."""
    constraints: tuple[Constraint, ...]
    """Constraints besides the kind of thing; axis 1 gives their number."""


def most_constraints(shop: Shop) -> int:
    """Return the highest number of constraints for which half of the catalog's kinds have a replacement; made once."""
    return shop.derive(_most_constraints)


def _most_constraints(shop: Shop) -> int:
    kinds, m = len(shop.kinds(1)), 0
    while 2 * np.count_nonzero(usable_in_categories(shop, m + 1) >= _LEAST_ROWS) >= kinds:
        m += 1
    return m


def draw_replacement(shop: Shop, returned: int, m: int, d: int, split: Split, rng: Generator) -> Replacement | None:
    """Return a wish for another product of the same kind, which the returned one does not meet.

    None if 40 tries find no such wish.
    """
    catalog = shop.catalog
    aisle = shop.aisle(catalog.category_of(returned).name)
    places = usable_places(shop, aisle, m)
    if not len(places):
        return None
    for at in rng.integers(len(places), size=_TRIES).tolist():
        row = int(aisle.rows[places[at]])
        if row == returned or shop.split(row) != split:
            continue
        names = list(islice(usable_names(catalog, row, rng), m - 1))
        price = catalog.value(row, "price")
        assert isinstance(price, int | float)
        constraints = (
            stated_price_bound(int(price), d, float(rng.random()), catalog.currency),
            *(natural_constraint(catalog, row, name) for name in names),
        )
        if not all(is_satisfied(catalog, constraint, returned) for constraint in constraints):
            return Replacement(row, constraints)
    return None


def share_met(world: World, replacement: Replacement, row: int | None) -> Fraction:
    """Return the share of the constraints that a product meets; 0 for None or if it cannot be had.

    That is a product of another kind, one that is sold out, and one that no result has shown (SPEC §4).
    """
    catalog = world.shop.catalog
    if row is None or row not in world.shown or not world.stock(row):
        return Fraction(0)
    if catalog.category_codes[row] != catalog.category_codes[replacement.row]:
        return Fraction(0)
    met = sum(is_satisfied(catalog, constraint, row) for constraint in replacement.constraints)
    return Fraction(met, len(replacement.constraints))
