"""Describes a product by facts that no other product of its category has together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.constraints import Constraint, Op, satisfied
from ecom_rlve.envs.language.acts import Fact
from ecom_rlve.envs.parts.constraints import tells_apart
from ecom_rlve.envs.world.shop import Shop

_FEWEST = 3
"""Least number of facts in a description, so that a text search has enough words to work with."""


def describe(shop: Shop, row: int, rng: Generator, closeness: float = 0.0) -> tuple[Constraint, ...] | None:
    """Return equality constraints that only this product of its category meets; None if there are none.

    The brand comes first, then attributes and price in random order. But with probability ``closeness`` what more
    products of the category have too comes before what fewer have: so it takes more facts to tell the product from all
    others, and each of them tells less. Once there are enough facts, those that exclude no further product are left
    out. The category's variant attribute is never used. The cards of a search that filters by a fact show it.
    """
    catalog = shop.catalog
    category = catalog.category_of(row)
    aisle = shop.aisle(category.name)
    names = [name for name in ATTRIBUTES if name != category.variant_attribute]
    names.append("price")
    order = ["brand", *(names[at] for at in rng.permutation(len(names)).tolist())]
    order = order if tells_apart(catalog, "brand") else order[1:]
    possible = [Constraint(name, Op.EQ, value) for name in order if (value := _sayable(catalog, row, name)) is not None]
    if rng.random() < closeness:
        possible.sort(key=lambda each: -np.count_nonzero(satisfied(aisle, each, slice(None))))
    remaining: NDArray[np.integer] | slice = slice(None)
    count = len(aisle)
    facts: list[Constraint] = []
    for constraint in possible:
        met = satisfied(aisle, constraint, remaining)
        narrowed = np.flatnonzero(met) if isinstance(remaining, slice) else remaining[met]
        if len(narrowed) < count or len(facts) < _FEWEST:
            facts.append(constraint)
            remaining, count = narrowed, len(narrowed)
        if count == 1 and len(facts) >= _FEWEST:
            return tuple(facts)
    return None


def _sayable(catalog: Catalog, row: int, name: str) -> str | float | None:
    """Return a value that a customer can say exactly; None if it is unknown, vague or awkward to say."""
    value = catalog.value(row, name)
    floors = catalog.column(name).is_floor
    if value is None or (floors is not None and floors[row]):
        return None
    if name == "price":
        return int(value)
    if isinstance(value, float) and value * 10 != int(value * 10):
        return None
    return value


def facts_of(constraints: Sequence[Constraint], currency: str | None = None) -> tuple[Fact, ...]:
    """Return the constraints as facts that a customer can say; each slot is named after its attribute.

    ``currency`` is the catalog's, None where it states none.
    """
    return tuple(
        Fact(constraint.attribute, constraint, unit_of(constraint.attribute, currency)) for constraint in constraints
    )


def unit_of(name: str, currency: str | None) -> str:
    """Return the unit of a column's values: of a price the currency's code; empty if there is none."""
    if name == "price":
        return currency or ""
    return ATTRIBUTES[name].unit if name in ATTRIBUTES else ""
