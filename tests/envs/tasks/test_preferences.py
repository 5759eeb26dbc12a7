"""The persona's utility: what is constrained counts, the priority most, brands not at all."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.envs.tasks.product_discovery.preferences import DIMENSIONS, gains, priority_fact

THINGS = Category("things", ("All", "Things"), "thing", "things", "color")
ROWS = np.arange(3, dtype=np.int32)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """Return three things: cheap, well rated, fast."""
    columns = [(1000, 3.0, 5), (2000, 5.0, 3), (3000, 4.0, 1)]
    return Catalog.from_products(
        [
            Product(f"P{at}", "Thing", "things", price_cents=price, rating=rating, ship_days=days)
            for at, (price, rating, days) in enumerate(columns)
        ],
        [THINGS],
    )


LIMITS = {
    "price": Constraint("price", Op.AT_MOST, 4000),
    "rating": Constraint("rating", Op.AT_LEAST, 3.0),
    "ship_days": Constraint("ship_days", Op.AT_MOST, 5.0),
    "brand": Constraint("brand", Op.EQ, "Acme"),
}


def utilities(catalog: Catalog, dimensions: list[str], priority: str) -> list[Fraction]:
    found = gains(catalog, ROWS, [LIMITS[name] for name in dimensions], priority)
    return [found.of(row) for row in ROWS.tolist()]


def test_one_dimension(catalog: Catalog) -> None:
    assert utilities(catalog, ["price"], "price") == [1, Fraction(5, 8), Fraction(1, 4)]
    assert utilities(catalog, ["price", "brand"], "brand") == [1, Fraction(5, 8), Fraction(1, 4)]


@pytest.mark.parametrize("priority", ["price", "rating", "ship_days"])
def test_weights(catalog: Catalog, priority: str) -> None:
    values = {"price": [0.75, 0.5, 0.25], "rating": [0.0, 1.0, 0.5], "ship_days": [0.0, 0.5, 1.0]}
    weights = {name: 0.7 if name == priority else 0.15 for name in values}
    plain = [sum(weights[name] * values[name][at] for name in values) for at in range(3)]
    scaled = [0.25 + 0.75 * (value - min(plain)) / (max(plain) - min(plain)) for value in plain]
    assert [float(gain) for gain in utilities(catalog, list(values), priority)] == pytest.approx(scaled)


def test_equal_products_are_all_best(catalog: Catalog) -> None:
    assert gains(catalog, ROWS[:1], [LIMITS["price"], LIMITS["rating"]], "rating").of(0) == 1


def test_a_limit_that_nothing_can_be_better_than(catalog: Catalog) -> None:
    five_stars = Constraint("rating", Op.AT_LEAST, 5.0)
    found = gains(catalog, ROWS[1:2], [LIMITS["price"], five_stars], "rating")
    assert found.of(1) == 1


def test_every_dimension_can_be_told() -> None:
    facts = [priority_fact(name) for name in DIMENSIONS]
    assert len({fact.constraint.value for fact in facts}) == len(DIMENSIONS)
    assert all(fact.kind is not None and fact.constraint.value in fact.kind.values for fact in facts)
