"""What each operator means, for one product and for many: exclusions and ranges above all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.attributes import DISCRETE, NUMERIC
from ecom_rlve.catalog.constraints import Constraint, Op, ends, is_satisfied, satisfied, words
from ecom_rlve.envs.world.shop import Shop


@pytest.fixture(scope="module")
def shop(wide_shop: Shop) -> Shop:
    return wide_shop


def expected(value: Any, op: Op, wanted: Any) -> bool:
    """Return by plain comparison whether a value, None for unknown, meets a constraint."""
    if value is None:
        return False
    tests: dict[Op, Any] = {
        Op.EQ: lambda: value == wanted,
        Op.ANY_OF: lambda: value in wanted,
        Op.NONE_OF: lambda: value not in wanted,
        Op.AT_MOST: lambda: value <= wanted,
        Op.AT_LEAST: lambda: value >= wanted,
        Op.BETWEEN: lambda: wanted[0] <= value <= wanted[1],
    }
    return bool(tests[op]())


def compared(shop: Shop, constraint: Constraint, rows: Sequence[int]) -> list[bool]:
    """Require that one product, some and all compare alike; return what they are."""
    catalog = shop.catalog
    some = satisfied(catalog, constraint, np.array(rows, dtype=np.int32)).tolist()
    assert some == [is_satisfied(catalog, constraint, row) for row in rows]
    assert some == satisfied(catalog, constraint, slice(None))[list(rows)].tolist()
    return [bool(each) for each in some]


@given(st.data())
def test_words_and_numbers_compare_as_plain_values_do(shop: Shop, data: st.DataObject) -> None:
    catalog = shop.catalog
    row = st.integers(0, catalog.size - 1)
    rows = data.draw(st.lists(row, min_size=1, max_size=30))
    name = data.draw(st.sampled_from([*DISCRETE, "brand", *NUMERIC, "rating", "ship_days"]))
    values = [catalog.value(each, name) for each in rows]
    known = [each for each in values if each is not None]
    if catalog.column(name).vocabulary is not None:
        pool = [*known, *("no such word", "black", "wool")]
        op = data.draw(st.sampled_from([Op.EQ, Op.ANY_OF, Op.NONE_OF]))
        named = tuple(data.draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3, unique=True)))
        wanted: Any = named[0] if op is Op.EQ else named
    else:
        number = st.one_of(st.sampled_from([float(each) for each in known] or [1.0]), st.floats(0, 5000))
        op = data.draw(st.sampled_from([Op.AT_MOST, Op.AT_LEAST, Op.BETWEEN]))
        low, high = sorted((data.draw(number), data.draw(number)))
        wanted = (low, high) if op is Op.BETWEEN else low
    assert compared(shop, Constraint(name, op, wanted), rows) == [expected(each, op, wanted) for each in values]


def test_the_unknown_meets_neither_an_exclusion_nor_a_range(shop: Shop) -> None:
    met = 0
    for name, op, wanted in (("color", Op.NONE_OF, ("black",)), ("weight", Op.BETWEEN, (0.0, 1e9))):
        for row in range(shop.catalog.size):
            is_met = is_satisfied(shop.catalog, Constraint(name, op, wanted), row)
            met += is_met
            assert not is_met or shop.catalog.value(row, name) is not None
    assert met > 100


def test_both_ends_of_a_range_belong_to_it(shop: Shop) -> None:
    row = next(row for row in range(shop.catalog.size) if shop.catalog.value(row, "weight") is not None)
    value = float(shop.catalog.value(row, "weight") or 0)
    for low, high, is_in in ((value, value + 1, True), (value - 1, value, True), (value + 1, value + 2, False)):
        assert is_satisfied(shop.catalog, Constraint("weight", Op.BETWEEN, (low, high)), row) is is_in


@pytest.mark.parametrize(
    ("name", "op", "value"),
    [
        ("color", Op.NONE_OF, "black"),
        ("weight", Op.NONE_OF, (1.0, 2.0)),
        ("color", Op.BETWEEN, ("black", "white")),
        ("weight", Op.BETWEEN, 3.0),
        ("weight", Op.BETWEEN, ("a", "b")),
        ("color", Op.ANY_OF, "black"),
    ],
)
def test_what_makes_no_constraint_is_an_error(shop: Shop, name: str, op: Op, value: Any) -> None:
    with pytest.raises(TypeError):
        satisfied(shop.catalog, Constraint(name, op, value), slice(None))


def test_parts_of_constraints() -> None:
    assert ends(Constraint("price", Op.BETWEEN, (2000, 3000))) == (2000, 3000)
    assert words(Constraint("color", Op.NONE_OF, ("black", "red"))) == ("black", "red")
    assert words(Constraint("color", Op.EQ, "black")) == ("black",)
    assert words(Constraint("price", Op.BETWEEN, (2000, 3000))) == ()
    with pytest.raises(TypeError, match="pair of numbers"):
        ends(Constraint("price", Op.AT_MOST, 3000))
