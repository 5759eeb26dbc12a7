"""What is settled over a whole catalog is the same in one go and in two passes over other processes' readings."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.kinds.leaf_names import unique_names
from ecom_rlve.catalog.kinds.nouns import word_set
from ecom_rlve.catalog.product import Product
from ecom_rlve.catalog.rows.catalog_wide import MAX_TITLES, CatalogNotes, Duplicates
from ecom_rlve.catalog.rows.reading import Reading
from ecom_rlve.catalog.rows.report import DropReason
from ecom_rlve.catalog.rows.row import catalog_of, read_row

_WHERE = ("Women", "Girls", "Dogs", "Sale", "Shop")
_THINGS = ("Dresses", "Women's Dresses", "Hats", "Dog Beds", "Beds", "For Him")


def row(at: int, **fields: Any) -> dict[str, Any]:
    return {"parent_asin": f"B{at}", "title": f"Hat {at}", "store": None} | fields


def read(at: int, **fields: Any) -> Reading:
    reading = read_row(row(at, **fields))
    assert isinstance(reading, Reading)
    return reading


def products(catalog: Catalog) -> list[Product]:
    return [catalog.product(at) for at in range(catalog.size)]


def test_two_passes_give_the_catalog_of_one() -> None:
    brands = ("Acme", "ACME", "acme", "Acme", None)
    paths: tuple[list[str], ...] = (["Women", "Dresses"], ["Girls", "Dresses"], [], ["Hats", "Caps"])
    titles = ("Summer", "Winter", "Hat", "Cap")
    rows = [
        row(at, title=f"{titles[at % 4]} {at}", store=brands[at % 5], categories=paths[at % 4]) for at in range(200)
    ]
    rows += [row(3), row(300, title="Cap 7", store="ACME"), row(301, title="")]
    readings: list[bytes] = []
    duplicates, notes = Duplicates(), CatalogNotes()
    for each in rows:
        reading = read_row(each)
        if isinstance(reading, Reading) and duplicates.reason(reading) is None:
            notes.note(reading)
            readings.append(pickle.dumps(reading))
        duplicates, notes = pickle.loads(pickle.dumps((duplicates, notes)))
    settled = pickle.loads(pickle.dumps(notes.decisions()))
    second_pass = [settled.product(pickle.loads(reading)) for reading in readings]
    catalog, report = catalog_of(rows)
    assert Catalog.from_products(second_pass, settled.categories).fingerprint == catalog.fingerprint
    assert report.kept == len(second_pass) == 200
    assert {product.brand for product in second_pass} == {"Acme", None}
    assert {"women's dresses", "girls' dresses", "hats"} <= {product.category for product in second_pass}


def test_duplicates_are_known_by_id_then_by_listing() -> None:
    duplicates = Duplicates()
    assert duplicates.reason(read(1, store="S")) is None
    assert duplicates.reason(read(1, title="Boot")) is DropReason.DUPLICATE_ID
    assert duplicates.reason(read(2, title="HAT 1!", store="s")) is DropReason.DUPLICATE_LISTING
    assert duplicates.reason(read(2, title="Boot")) is None, "a dropped row's id and listing are free"


def test_the_first_titles_tell_the_variant_attribute() -> None:
    few = CatalogNotes()
    for at in range(MAX_TITLES):
        few.note(read(at, title=f"Dress size {at}"))
    many = pickle.loads(pickle.dumps(few))
    for at in range(MAX_TITLES, MAX_TITLES * 2):
        many.note(read(at, title=f"Dress XL {at}"))
    assert [category.variant_attribute for category in few.decisions().categories] == ["size"]
    assert many.decisions().categories == few.decisions().categories


def test_catalogs_of_many_leaves_keep_few_titles_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecom_rlve.catalog.rows.catalog_wide.MOST_KEPT", 100)
    monkeypatch.setattr("ecom_rlve.catalog.rows.catalog_wide.LATER_TITLES", 2)
    notes = CatalogNotes()
    for at in range(90):
        notes.note(read(at, categories=["Women", "Dresses"]))
    leaves = [f"{use} {thing}" for use in ("Garden", "Boat", "Wall", "Kitchen") for thing in ("Hats", "Lamps", "Rugs")]
    for at in range(90, 300):
        notes.note(read(at, title="Blorp", categories=["Shop", leaves[at % len(leaves)]]))
    kept = [len(titles) for titles in notes._titles.values()]
    assert kept == [90] + [2] * len(leaves)


def test_no_catalog_keeps_more_than_a_fixed_number_of_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecom_rlve.catalog.rows.catalog_wide.MOST_KEPT", 10)
    notes = CatalogNotes()
    uses = sorted(word_set("modifiers"))
    for at, use in enumerate(uses):
        notes.note(read(at, title="Blorp", categories=["Shop", f"{use} lamps"]))
    assert sum(map(len, notes._titles.values())) == 20
    assert len(notes.decisions().categories) > 0.9 * len(uses), "a leaf without titles is a category"


def test_what_is_kept_grows_with_names_not_with_paths() -> None:
    """Shops put tags, sales and years into paths: a row each may have one of its own."""
    notes = CatalogNotes()
    for at in range(300):
        notes.note(read(at, title="Blorp", categories=[f"Sale {at}", "Women" if at % 2 else "Men", "Dresses"]))
    settled = notes.decisions()
    assert {category.name for category in settled.categories} == {"women's dresses", "men's dresses"}
    assert len(settled.names) == len(notes._titles) == len(notes._offered) == 2
    # As if all leaves were kept: the least path is shown.
    assert {category.path for category in settled.categories} == {
        ("Sale 0", "Men", "Dresses"),
        ("Sale 1", "Women", "Dresses"),
    }


@given(st.lists(st.tuples(st.sampled_from(_WHERE), st.sampled_from(_THINGS)), min_size=1, max_size=12))
def test_names_are_those_of_all_leaves_together(paths: list[tuple[str, str]]) -> None:
    readings = [read(at, title="Blorp", categories=path) for at, path in enumerate(paths)]
    notes = CatalogNotes()
    for reading in readings:
        notes.note(reading)
    settled, unique = notes.decisions(), unique_names(reading.leaf for reading in readings)
    assert [settled.product(each).category for each in readings] == [unique[each.leaf].plural for each in readings]
    assert {category.path for category in settled.categories} == {leaf.path for leaf in unique.values()}


def test_leaves_that_are_spoken_alike_are_one_category() -> None:
    notes = CatalogNotes()
    parents = ("Clothing & Shoes", "Women", "clothing and shoes")
    for at in range(60):
        title = ("Dress", "Dress", "XL dress")[at % 3]
        notes.note(read(at, categories=[parents[at % 3], "Dresses"], title=f"{title} {at}"))
    chosen = {category.name: category.variant_attribute for category in notes.decisions().categories}
    # The first and the third are one kind; half of their titles tell a size.
    assert chosen == {"dresses": "color", "women's dresses": "size"}


def test_a_reading_that_was_not_noted_cannot_be_settled() -> None:
    notes = CatalogNotes()
    notes.note(read(1))
    with pytest.raises(KeyError):
        notes.decisions().product(read(2, title="Boot"))
