"""Describing a product in facts that single it out within its category."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import ATTRIBUTES, NUMERIC
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.constraints import Constraint, Op, satisfied
from ecom_rlve.envs.language.acts import Fact
from ecom_rlve.envs.world.shop import Shop

_FEWEST = 3
"""Facts a description has at least, so that a search in words has something to go by."""


def describe(shop: Shop, row: int, rng: Generator) -> tuple[Constraint, ...] | None:
    """Return equality constraints that only this product of its category meets, or None where there are none such.

    Brand first, then attributes and price in random order; one that narrows nothing is left out once there are enough.
    The category's variant attribute is never used, nor a number that the product's card has no room for: what the
    customer says must be recognisable.
    """
    catalog, card = shop.catalog, shop.card(row)
    category = catalog.category_of(row)
    aisle = shop.aisle(category.name)
    remaining: NDArray[np.integer] | slice = slice(None)
    count = len(aisle)
    names = [name for name in ATTRIBUTES if name != category.variant_attribute]
    names.append("price")
    order = ["brand", *(names[at] for at in rng.permutation(len(names)).tolist())]
    facts: list[Constraint] = []
    for name in order:
        value = _sayable(catalog, row, name)
        if value is None or (name in NUMERIC and name not in card):
            continue
        constraint = Constraint(name, Op.EQ, value)
        met = satisfied(aisle, constraint, remaining)
        narrowed = np.flatnonzero(met) if isinstance(remaining, slice) else remaining[met]
        if len(narrowed) < count or len(facts) < _FEWEST:
            facts.append(constraint)
            remaining, count = narrowed, len(narrowed)
        if count == 1 and len(facts) >= _FEWEST:
            return tuple(facts)
    return None


def _sayable(catalog: Catalog, row: int, name: str) -> str | float | None:
    """Return a value that a customer could say exactly, None for an unknown, vague or unwieldy one."""
    value = catalog.value(row, name)
    floors = catalog.column(name).is_floor
    if value is None or (floors is not None and floors[row]):
        return None
    if name == "price":
        return int(value)
    if isinstance(value, float) and value * 10 != int(value * 10):
        return None
    return value


def facts_of(constraints: Sequence[Constraint]) -> tuple[Fact, ...]:
    """Return the constraints as facts a customer can say, each a slot named after its attribute."""
    return tuple(
        Fact(
            constraint.attribute,
            constraint,
            ATTRIBUTES[constraint.attribute].unit if constraint.attribute in ATTRIBUTES else "",
        )
        for constraint in constraints
    )
