"""The shelf of the procedural catalog: any part of it, in any order, is the same products; none has changed."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.errors import CatalogError
from ecom_rlve.catalog.product import Product
from ecom_rlve.catalog.synthetic import shelf as synthetic
from ecom_rlve.catalog.synthetic.departments import departments
from ecom_rlve.catalog.synthetic.facts import draw_facts
from ecom_rlve.catalog.synthetic.shelf import SyntheticShelf, synthetic_catalog
from ecom_rlve.streams import Streams

FIELDS = (
    "id", "title", "category", "description", "features", "brand", "store", "price_cents", "price_is_floor", "rating",
    "rating_count", "ship_days", "stock",
)  # fmt: skip
GOLDENS = {
    (40, 0): "5ae2dffae401f49b70a78602f6f5b2b2",
    (600, 7): "8c353efac28276fc1f518dadd39de71b",
    (2_000, 0): "910c8ce7a013bcf375309fd92566d888",
    (10_000, 7): "fec5f2e170505053ea390e55d31fd91b",
}
"""Digests of all products by size and seed."""
SIZE = 700


@pytest.fixture(scope="module")
def shelf() -> SyntheticShelf:
    return SyntheticShelf(SIZE, 3)


@pytest.fixture(scope="module")
def whole(shelf: SyntheticShelf) -> list[Product]:
    return list(shelf.products())


@pytest.mark.parametrize(("size", "seed"), GOLDENS)
def test_products_are_those_of_always(size: int, seed: int) -> None:
    catalog = synthetic_catalog(size, seed)
    hasher = blake2b(repr(catalog.categories).encode(), digest_size=16)
    for row in range(size):
        product = catalog.product(row)
        fields = [getattr(product, name) for name in FIELDS]
        hasher.update(repr([*fields, sorted(product.attributes.items())]).encode())
    assert hasher.hexdigest() == GOLDENS[size, seed]


@given(start=st.integers(-SIZE, 2 * SIZE), stop=st.none() | st.integers(-SIZE, 2 * SIZE))
def test_any_part_is_a_slice_of_the_whole(
    shelf: SyntheticShelf, whole: list[Product], start: int, stop: int | None
) -> None:
    assert list(shelf.products(start, stop)) == whole[start:stop]


def test_parts_longer_than_what_is_looked_up_together(
    shelf: SyntheticShelf, whole: list[Product], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synthetic, "_AT_ONCE", 13)
    assert list(shelf.products(5, 205)) == whole[5:205]


def test_the_catalog_holds_the_shelf_in_order(shelf: SyntheticShelf, whole: list[Product]) -> None:
    catalog = synthetic_catalog(SIZE, 3)
    assert list(catalog.ids) == [product.id for product in whole]
    assert set(catalog.categories) == set(shelf.categories)


def test_too_small_a_shelf_is_refused() -> None:
    with pytest.raises(CatalogError, match="at least 40 products, not 39"):
        SyntheticShelf(39)


def test_a_number_that_comes_again_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.array([5, 9, 5, 7, 9, 9, 2, 4], dtype=np.uint64)
    monkeypatch.setattr(synthetic, "_digests", lambda _seed, start, stop: numbers[start:stop])
    assert synthetic._id_numbers(0, 5).tolist() == [5, 9, 7, 2, 4]


def test_many_products_of_a_kind_still_differ() -> None:
    kind = departments()[0][0]
    table = draw_facts(kind, 30_000, Streams("many")).table
    assert len(np.unique(table, axis=0)) == len(table)
