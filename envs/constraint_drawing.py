"""Constraints as a shopper would state them, drawn from a product they fit and widened until others fit too (SPEC §6).

Words are equalities, numbers bounds in their natural direction. A bound is rounded, away from the product, to a number
that is easily said *before* it becomes a constraint, so that the spoken value is the constraint's value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import exp, floor
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import ATTRIBUTES, NUMERIC
from ecom_rlve.catalog.constraints import Constraint, Op, all_satisfied
from ecom_rlve.catalog.table import Catalog, Column
from ecom_rlve.envs.shop import Shop

CONSTRAINABLE: tuple[str, ...] = ("brand", "rating", "ship_days", *ATTRIBUTES)
"""What a constraint beside category and price may be about."""

_MOST_ALTERNATIVES = 2
"""Values in an "A or B"."""
_DIGITS_SAID = 2
_LEAST_STEP = {"rating": Decimal("0.1"), "ship_days": Decimal(1)}

Rows = NDArray[np.int32]


def price_bound(price_cents: int, d: int, draw: float) -> Constraint:
    """Return "at most" the price and a slack U(0, ½e^{−d/5}) of it; ``draw`` in [0, 1) is the slack's."""
    return Constraint("price", Op.AT_MOST, floor(price_cents * (1 + draw * 0.5 * exp(-d / 5))))


def usable_names(catalog: Catalog, row: int, rng: Generator) -> Iterator[str]:
    """Yield what a constraint drawn from this product can be about beside its price, in random order.

    What is unknown cannot, nor can the attribute in which the product comes in variants.
    """
    variant = catalog.category_of(row).variant_attribute
    for at in rng.permutation(len(CONSTRAINABLE)).tolist():
        name = CONSTRAINABLE[at]
        if name != variant and catalog.value(row, name) is not None:
            yield name


def usable_counts(shop: Shop) -> NDArray[np.int8]:
    """Return for each product on how many things, its price included, constraints could be drawn; made once.

    0 where the price is unknown or a lower bound, or nothing is on the shelf: such a product is no target.
    """
    return shop.derive(_usable_counts)


def _usable_counts(shop: Shop) -> NDArray[np.int8]:
    catalog = shop.catalog
    price, variants = catalog.column("price"), np.array([kind.variant_attribute for kind in catalog.categories])
    counts = np.ones(catalog.size, dtype=np.int8)
    for name in CONSTRAINABLE:
        column = catalog.column(name)
        is_float = column.vocabulary is None and column.values.dtype.kind == "f"
        known = ~np.isnan(column.values) if is_float else column.values >= 0
        counts += known & (variants != name)[catalog.category_codes]
    counts[np.isnan(price.values) | (catalog.column("stock").values < 1)] = 0
    if price.is_floor is not None:
        counts[price.is_floor] = 0
    return counts


def natural_constraint(catalog: Catalog, row: int, name: str) -> Constraint:
    """Return the constraint that a shopper with this product in mind would state on ``name``, which must be known."""
    value = catalog.value(row, name)
    if isinstance(value, str):
        return Constraint(name, Op.EQ, value)
    assert value is not None, f"{name} of row {row} is unknown"
    is_most = _is_at_most(name)
    return Constraint(name, Op.AT_MOST if is_most else Op.AT_LEAST, sayable(name, value, up=is_most))


def sayable(name: str, value: float, *, up: bool) -> float:
    """Return the number rounded to what is easily said: tenths of a star, whole days, else two digits.

    >>> sayable("weight", 347.0, up=True), sayable("capacity", 55400.0, up=False), sayable("weight", 1.8, up=True)
    (350.0, 55000.0, 1.8)
    """
    exact = Decimal(repr(float(value)))
    step = _LEAST_STEP.get(name) or Decimal(1).scaleb(exact.adjusted() - _DIGITS_SAID + 1)
    return float((exact / step).to_integral_value(ROUND_CEILING if up else ROUND_FLOOR) * step)


def widened(
    catalog: Catalog, constraints: Sequence[Constraint], rows: Rows, enough: int
) -> tuple[tuple[Constraint, ...], Rows]:
    """Return the constraints, widened until ``enough`` of ``rows`` meet them or none can be added, and who meets them.

    Product after product the nearest is let in: bounds move to it, equalities become "A or B". Each step counts a word
    as 1 and a bound as the share of the rows' range that it moves by; ties go to the earlier row.
    """
    stated = list(constraints)
    sides = [_Side.of(catalog, constraint, rows) for constraint in stated]
    costs = [side.costs(constraint) for side, constraint in zip(sides, stated, strict=True)]
    while len(rows):
        total = np.add.reduce(costs) if costs else np.zeros(len(rows))
        is_met = total == 0
        total[is_met] = np.inf
        nearest = int(total.argmin())
        if np.count_nonzero(is_met) >= enough or total[nearest] == np.inf:
            break
        for at, constraint in enumerate(stated):
            if costs[at][nearest]:
                stated[at] = _admitting(catalog, constraint, int(rows[nearest]))
                costs[at] = sides[at].costs(stated[at])
    return tuple(stated), all_satisfied(catalog, stated, rows)


@dataclass(frozen=True, eq=False, slots=True)
class _Side:
    """One attribute of the rows, ready to be compared with a constraint on it again and again."""

    column: Column
    values: NDArray[Any]
    """Codes, or numbers of which the unknown ones are infinitely bad."""
    strangers: NDArray[np.float64]
    """What it costs to let in a word of each row: 1, infinite for an unknown one. Empty for numbers."""
    spread: float

    @classmethod
    def of(cls, catalog: Catalog, constraint: Constraint, rows: Rows) -> _Side:
        column = catalog.column(constraint.attribute)
        values = column.values[rows]
        if column.vocabulary is not None:
            return cls(column, values, np.where(values < 0, np.inf, 1.0), 1.0)
        numbers = values.astype(np.float64)
        is_known = ~np.isnan(numbers)
        spread = float(np.ptp(numbers[is_known])) if is_known.any() else 0.0
        worst = np.inf if constraint.op is Op.AT_MOST else -np.inf
        return cls(column, np.where(is_known, numbers, worst), numbers[:0], spread or 1.0)

    def costs(self, constraint: Constraint) -> NDArray[np.float64]:
        """Return what letting each of the rows in costs: 0 for those that are in, infinite where it cannot be done."""
        value = constraint.value
        if isinstance(value, int | float):
            beyond = self.values - value if constraint.op is Op.AT_MOST else value - self.values
            return np.maximum(beyond, 0.0) / self.spread
        held = value if isinstance(value, tuple) else (value,)
        is_in = np.logical_or.reduce([self.values == self.column.encode(word) for word in held])
        return np.where(is_in, 0.0, self.strangers if len(held) < _MOST_ALTERNATIVES else np.inf)


def _admitting(catalog: Catalog, constraint: Constraint, row: int) -> Constraint:
    value = catalog.value(row, constraint.attribute)
    if isinstance(value, str):
        held = constraint.value if isinstance(constraint.value, tuple) else (str(constraint.value),)
        return Constraint(constraint.attribute, Op.ANY_OF, tuple(sorted((*held, value))))
    assert value is not None
    return replace(constraint, value=sayable(constraint.attribute, value, up=constraint.op is Op.AT_MOST))


def _is_at_most(name: str) -> bool:
    return name == "ship_days" or (name in NUMERIC and ATTRIBUTES[name].better == "at_most")
