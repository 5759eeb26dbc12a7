"""Aisles: a category's part of every column, made or read from files, and a cache that stays within its bounds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.columns import aisles
from ecom_rlve.catalog.columns.aisle import Aisle
from ecom_rlve.catalog.columns.aisles import NAMES, Aisles, write_aisles
from ecom_rlve.catalog.constraints import satisfied
from ecom_rlve.catalog.errors import CatalogError
from ecom_rlve.catalog.search.byte_cache import ByteCache
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.parts.constraints import natural_constraint, usable_counts, usable_in_categories, usable_names
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.tasks.substitution.own_titles import have_own_title
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.streams import stream

COLUMNS = ("brand", "price", "rating", "ship_days", "stock", *ATTRIBUTES)


@pytest.fixture(params=["in memory", "in files"])
def arrays(request: pytest.FixtureRequest, shop: Shop, tmp_path: Path) -> Aisles:
    """Return the catalog's columns by category, made when asked for or read from files."""
    if request.param == "in memory":
        return Aisles(shop.catalog)
    write_aisles(shop.catalog, tmp_path)
    opened = Aisles.open(shop.catalog, tmp_path)
    assert opened.held_bytes == 0
    return opened


def test_they_hold_exactly_what_the_catalog_holds(shop: Shop, arrays: Aisles) -> None:
    assert len(shop.catalog.categories) == 50
    for category in shop.catalog.categories:
        aisle = Aisle(arrays, category.name)
        for name in COLUMNS:
            column, whole = aisle.column(name), shop.catalog.column(name)
            np.testing.assert_array_equal(column.values[:], whole.values[aisle.rows])
            assert (column.is_floor is None) == (whole.is_floor is None)
            if column.is_floor is not None and whole.is_floor is not None:
                assert column.is_floor[:].tolist() == whole.is_floor[aisle.rows].tolist()


def test_constraints_mean_the_same_in_an_aisle(shop: Shop, arrays: Aisles) -> None:
    assert shop.catalog.size == 400
    for row in range(0, shop.catalog.size, 3):
        aisle = Aisle(arrays, shop.catalog.category_of(row).name)
        assert aisle.rows[aisle.place_of(row)] == row
        for name in usable_names(shop.catalog, row, stream(row, "names")):
            constraint = natural_constraint(shop.catalog, row, name)
            expected = satisfied(shop.catalog, constraint, aisle.rows)
            assert satisfied(aisle, constraint, slice(None)).tolist() == expected.tolist()


def test_episodes_are_the_same_on_files_and_in_a_tight_cache(shop: Shop, arrays: Aisles) -> None:
    tight = Shop(shop.catalog, shop.search, aisles=arrays)
    tight.cache = ByteCache(4_000)
    for env_id, environment in environments().items():
        for seed in range(4 if environment.max_difficulty(shop) >= 6 else 0):
            spec = EpisodeSpec(env_id, 6, seed)
            assert Episode(tight, spec, "one").goal_json() == Episode(shop, spec, "one").goal_json()
    assert tight.cache.bytes <= 4_000


def test_they_are_small(wide_shop: Shop) -> None:
    arrays = Aisles(wide_shop.catalog)
    for name in NAMES:
        arrays.values(name)
    whole = sum(wide_shop.catalog.column(name).values.nbytes for name in COLUMNS)
    assert arrays.held_bytes < whole / 2


def test_files_of_another_catalog_or_damaged_ones_are_refused(shop: Shop, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="is damaged"):
        Aisles.open(shop.catalog, tmp_path)
    write_aisles(Shop.open("synthetic:80:0").catalog, tmp_path)
    with pytest.raises(CatalogError, match="another catalog"):
        Aisles.open(shop.catalog, tmp_path)
    (tmp_path / "price.npy").write_bytes(b"")
    with pytest.raises(CatalogError, match="is damaged"):
        Aisles.open(shop.catalog, tmp_path)


NUMBERS = st.floats(allow_infinity=False) | st.sampled_from([0.1, 4.3, 1999.0, 0.25, -3.0, -0.0, float("nan")])


@given(st.lists(NUMBERS, min_size=1, max_size=40) | st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=9))
def test_nothing_is_lost(values: list[float]) -> None:
    catalog = SimpleNamespace(
        categories=[SimpleNamespace(name="all")], rows_of_category=lambda _: np.arange(len(values), dtype=np.int32)
    )
    array = np.array(values)
    packed = aisles._packed(array, catalog)[:]  # type: ignore[arg-type]  # a catalog of one column is enough here
    np.testing.assert_array_equal(packed, array)
    assert np.signbit(packed).tolist() == np.signbit(array).tolist() or np.isnan(array).any()


def test_counts_by_category(shop: Shop) -> None:
    counts, codes = usable_counts(shop), shop.catalog.category_codes
    for m in (1, 4, 9, 500):
        expected = Counter(codes[counts >= m].tolist())
        assert usable_in_categories(shop, m).tolist() == [
            expected[code] for code in range(len(shop.catalog.categories))
        ]


def test_own_titles_are_those_that_begin_like_no_other_of_their_category(shop: Shop) -> None:
    catalog = shop.catalog
    beginnings = [(int(catalog.category_codes[row]), catalog.titles[row].encode()[:32]) for row in range(catalog.size)]
    alike = Counter(beginnings)
    assert have_own_title(shop).tolist() == [alike[beginning] == 1 for beginning in beginnings]
    assert 1 < len(alike) < catalog.size
