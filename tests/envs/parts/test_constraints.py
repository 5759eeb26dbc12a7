"""Constraints drawn from a product: natural directions, sayable numbers, widening that lets others in."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.constraints import Constraint, Op, all_satisfied, ends, is_satisfied, words
from ecom_rlve.envs.language.phrases import spellings
from ecom_rlve.envs.parts import constraints as constraint_drawing
from ecom_rlve.envs.parts.constraints import (
    natural_constraint,
    price_bound,
    sayable,
    stated_price_bound,
    usable_counts,
    usable_names,
    widened,
)
from ecom_rlve.envs.parts.description import facts_of
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.streams import stream


@pytest.fixture(scope="module")
def shop(wide_shop: Shop) -> Shop:
    return wide_shop


@given(st.integers(1, 10**7), st.integers(0, 20), st.floats(0, 1, exclude_max=True))
def test_price_bounds_have_the_documented_slack(price: int, d: int, draw: float) -> None:
    bound = price_bound(price, d, draw)
    assert isinstance(bound, int)
    assert price <= bound <= price * (1 + 0.5 * exp(-d / 5))
    stated = stated_price_bound(price, d, draw)
    assert stated.op is Op.AT_MOST
    assert isinstance(stated.value, int)
    assert bound <= stated.value < bound + 100


@pytest.mark.parametrize(
    ("d", "draw", "bound"),
    [(0, 0.0, 10_000), (0, 0.5, 12_500), (5, 0.5, 10_919), (5, 0.999, 11_837), (20, 0.5, 10_045)],
)
def test_price_bounds_by_hand(d: int, draw: float, bound: int) -> None:
    """A hundred dollars and a share of ½e^(−d/5): 1/2, 1/2e, 1/2e⁴."""
    assert price_bound(10_000, d, draw) == bound


@given(st.floats(0.1, 1e7), st.sampled_from(["weight", "rating", "ship_days", "capacity"]))
def test_rounding_never_crosses_the_value(value: float, name: str) -> None:
    assert sayable(name, value, up=False) <= value <= sayable(name, value, up=True)
    assert sayable(name, sayable(name, value, up=True), up=True) == sayable(name, value, up=True)


def test_natural_directions(shop: Shop) -> None:
    directions = {"rating": Op.AT_LEAST, "ship_days": Op.AT_MOST, "weight": Op.AT_MOST, "capacity": Op.AT_LEAST}
    rng = stream(1, "names")
    stated = 0
    for row in range(0, shop.catalog.size, 7):
        for name in usable_names(shop.catalog, row, rng):
            stated += 1
            constraint = natural_constraint(shop.catalog, row, name)
            assert is_satisfied(shop.catalog, constraint, row)
            assert constraint.op is directions.get(name, constraint.op)
            assert name != shop.catalog.category_of(row).variant_attribute
            if constraint.op is not Op.EQ:
                (fact,) = facts_of([constraint])
                assert len(spellings(fact)[0].split()[0]) <= 6, "more digits than a person would say"
    assert stated >= 2500


def test_usable_counts_count_usable_names(shop: Shop) -> None:
    counts = usable_counts(shop)
    floors = shop.catalog.column("price").is_floor
    assert counts.max() > 1
    for row in range(0, shop.catalog.size, 5):
        product = shop.catalog.product(row)
        is_target = product.price_cents is not None and not (floors is not None and floors[row]) and product.stock > 0
        names = list(usable_names(shop.catalog, row, stream(row, "names")))
        assert counts[row] == (1 + len(names) if is_target else 0)


def test_widening_lets_in_as_many_as_wanted_and_keeps_the_target(shop: Shop) -> None:
    catalog, grown = shop.catalog, 0
    for seed in range(150):
        rng = stream(seed, "widening")
        target = int(rng.integers(catalog.size))
        aisle = shop.aisle(catalog.category_of(target).name)
        rows = aisle.rows
        names = list(usable_names(catalog, target, rng))[:3]
        stated = [natural_constraint(catalog, target, name) for name in names]
        before = all_satisfied(catalog, stated, rows)
        wider, places = widened(aisle, stated, np.ones(len(rows), dtype=np.bool_), 6)
        fitting = rows[places]
        assert target in fitting
        assert np.isin(before, fitting).all()
        assert fitting.tolist() == all_satisfied(catalog, wider, rows).tolist()
        assert [c.attribute for c in wider] == names
        for constraint in wider:
            assert constraint.op is not Op.ANY_OF or len(set(constraint.value)) == 2  # type: ignore[arg-type]  # ANY_OF has a list of values
        grown += len(fitting) >= 6
        assert len(before) < 6 or list(wider) == stated
    assert grown > 75


def test_nothing_to_widen() -> None:
    shop = Shop.open("synthetic:40:0")
    among = np.arange(shop.catalog.size) < 5
    assert widened(shop.catalog, [], among, 4)[1].tolist() == [0, 1, 2, 3, 4]
    assert widened(shop.catalog, [], among & ~among, 4)[1].tolist() == []


@pytest.mark.parametrize("few", [0, 10**9])
def test_a_scan_before_the_distances_changes_nothing(shop: Shop, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = shop.catalog

    def drawn() -> list[tuple[object, list[int]]]:
        found: list[tuple[object, list[int]]] = []
        for seed in range(60):
            rng = stream(seed, "scan")
            target = int(rng.integers(catalog.size))
            aisle = shop.aisle(catalog.category_of(target).name)
            names = list(usable_names(catalog, target, rng))[:2]
            stated = [natural_constraint(catalog, target, name) for name in names]
            wider, places = widened(aisle, stated, rng.random(len(aisle)) < 0.8, 4)
            found.append((wider, places.tolist()))
        return found

    expected = drawn()
    monkeypatch.setattr(constraint_drawing, "_FEW", few)
    assert drawn() == expected


def test_exclusions_and_ranges_widen_until_enough_meet_them(shop: Shop) -> None:
    """Ranges grow on the side on which a product lies, exclusions lose words and keep one."""
    catalog, lost, grown = shop.catalog, 0, 0
    for seed in range(200):
        rng = stream(seed, "widening forms")
        target = int(rng.integers(catalog.size))
        aisle = shop.aisle(catalog.category_of(target).name)
        stated = [each for each in _in_forms(shop, target, rng) if each is not None]
        before = all_satisfied(catalog, stated, aisle.rows)
        wider, places = widened(aisle, stated, np.ones(len(aisle), dtype=np.bool_), 12)
        fitting = aisle.rows[places]
        assert np.isin(before, fitting).all()
        assert fitting.tolist() == all_satisfied(catalog, wider, aisle.rows).tolist()
        for old, new in zip(stated, wider, strict=True):
            assert (old.attribute, old.op) == (new.attribute, new.op)
            if old.op is Op.NONE_OF:
                assert len(words(new)) >= 1
                assert set(words(new)) <= set(words(old))
                lost += len(words(new)) < len(words(old))
            else:
                (low, high), (lower, higher) = ends(old), ends(new)
                assert lower <= low <= high <= higher
                grown += (lower, higher) != (low, high)
        assert len(before) < 12 or list(wider) == stated
    assert min(lost, grown) > 5


def _in_forms(shop: Shop, target: int, rng: np.random.Generator) -> list[Constraint | None]:
    """Return an exclusion of two words and a narrow range, which a product meets; None for what it does not have."""
    catalog = shop.catalog
    made: list[Constraint | None] = []
    for name in ("color", "material", "weight", "length"):
        value, aisle = catalog.value(target, name), shop.aisle(catalog.category_of(target).name)
        column = aisle.column(name)
        if isinstance(value, str) and column.vocabulary is not None:
            codes = np.unique(column.values[:])
            others = [column.vocabulary[code] for code in codes.tolist() if code >= 0]
            others = [word for word in others if word != value]
            chosen = [others[at] for at in rng.permutation(len(others))[:2].tolist()]
            made.append(Constraint(name, Op.NONE_OF, tuple(sorted(chosen))) if chosen else None)
        elif isinstance(value, float):
            made.append(Constraint(name, Op.BETWEEN, (value, value)))
    return made


def test_the_last_word_stays_excluded(shop: Shop) -> None:
    aisle = shop.aisle(next(kind.name for kind in shop.catalog.categories if shop.aisle(kind.name)))
    column = aisle.column("brand")
    assert column.vocabulary is not None
    word = column.vocabulary[int(column.values[:].max())]
    (kept,), places = widened(
        aisle, [Constraint("brand", Op.NONE_OF, (word,))], np.ones(len(aisle), dtype=np.bool_), len(aisle)
    )
    assert words(kept) == (word,)
    assert len(places) < len(aisle)
