"""The columnar store and the one meaning of a constraint."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.attributes import DISCRETE, NUMERIC
from ecom_rlve.catalog.columns.table import Catalog, Postings, Texts
from ecom_rlve.catalog.constraints import Constraint, Op, all_satisfied, is_satisfied, satisfied, words
from ecom_rlve.catalog.errors import CatalogError, UnknownAttributeError, UnknownProductError
from ecom_rlve.catalog.product import Category, Product

LAMPS = Category("lamps", ("Home", "Lamps"), "lamp", "lamps", "wattage")
MUGS = Category("mugs", ("Kitchen", "Mugs"), "mug", "mugs", "color")
EVERYTHING = Product(
    id="LAMP1",
    title="Lamp, Brushed",
    category="lamps",
    description="A lamp.",
    features=("Bright", "Tall"),
    brand="Northwick",
    store="Northwick Store",
    price_cents=1299,
    price_is_floor=False,
    price_high_cents=1999,
    currency="USD",
    rating=4.5,
    rating_count=12,
    ship_days=3,
    stock=7,
    attributes={"color": "red", "material": "brass", "wattage": 8.0, "weight": 950.0},
    provenance={"color": "details.Color: Cherry Red", "price": "price: 12.99 - 19.99"},
)
NOTHING = Product(id="MUG1", title="", category="mugs")

COLORS, BRANDS = ("red", "blue", "Teal"), ("Northwick", "Velmora")
PRICES, NUMBERS = (0, 100, 1299, 2599), (0.0, 5.0, 7.5, 60.0)
WORDY, NUMERICAL = ("brand", "color", "category"), ("price", "rating", "wattage", "stock", "ship_days")

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=12)
attributes = st.fixed_dictionaries(
    {},
    optional={"color": st.sampled_from(COLORS), "wattage": st.sampled_from(NUMBERS)},
)
products = st.builds(
    Product,
    id=texts,
    title=texts,
    category=st.sampled_from((LAMPS.name, MUGS.name)),
    description=texts,
    features=st.lists(texts.filter(bool), max_size=3).map(tuple),
    brand=st.none() | st.sampled_from(BRANDS),
    store=st.none() | texts.filter(bool),
    price_cents=st.none() | st.sampled_from(PRICES),
    price_is_floor=st.booleans(),
    price_high_cents=st.none() | st.sampled_from(PRICES),
    currency=st.none() | st.sampled_from(("EUR", "USD")),
    rating=st.none() | st.sampled_from((0.0, 3.5, 5.0)),
    rating_count=st.integers(0, 2**31 - 1),
    ship_days=st.integers(1, 10),
    stock=st.integers(0, 60),
    attributes=attributes,
    provenance=st.dictionaries(st.sampled_from(("color", "price")), texts, max_size=2),
)
shelves = st.lists(products, min_size=1, max_size=12, unique_by=lambda product: product.id)
a_word = st.sampled_from((*COLORS, *BRANDS, LAMPS.name, "TEAL", "northwick", "nowhere"))
a_number = st.sampled_from((*PRICES, *NUMBERS, 3.5))
constraints = st.one_of(
    st.builds(Constraint, st.sampled_from(WORDY), st.just(Op.EQ), a_word),
    st.builds(Constraint, st.sampled_from(WORDY), st.just(Op.ANY_OF), st.lists(a_word, max_size=3).map(tuple)),
    st.builds(Constraint, st.sampled_from(NUMERICAL), st.sampled_from((Op.EQ, Op.AT_MOST, Op.AT_LEAST)), a_number),
)


def shelf(*rows: Product) -> Catalog:
    return Catalog.from_products(rows, (MUGS, LAMPS))


def value_of(product: Product, attribute: str) -> Any:
    if attribute == "price":
        return product.price_cents
    return product.attributes.get(attribute) if attribute in (*DISCRETE, *NUMERIC) else getattr(product, attribute)


def meets(product: Product, constraint: Constraint) -> bool:
    """Read a constraint off the record, independently of the columns."""
    value, wanted = value_of(product, constraint.attribute), constraint.value
    if value is None:
        return False
    if constraint.op is Op.ANY_OF:
        return value.casefold() in {word.casefold() for word in words(constraint)}
    if constraint.op is Op.AT_LEAST:
        return bool(value >= wanted)
    if constraint.attribute == "price" and product.price_is_floor:
        return False
    if constraint.op is Op.AT_MOST:
        return bool(value <= wanted)
    return bool(value.casefold() == wanted.casefold() if isinstance(wanted, str) else value == wanted)


@given(shelves)
def test_products_come_back_as_they_went_in(rows: list[Product]) -> None:
    catalog = shelf(*rows)
    assert [catalog.product(row) for row in range(catalog.size)] == rows
    assert [catalog.row_of(product.id) for product in rows] == list(range(len(rows)))
    for category in (LAMPS, MUGS):
        expected = [row for row, product in enumerate(rows) if product.category == category.name]
        assert catalog.rows_of_category(category.name).tolist() == expected
        assert all(catalog.category_of(row) == category for row in expected)


@given(shelves, constraints)
def test_a_constraint_means_the_same_for_one_product_and_for_many(rows: list[Product], constraint: Constraint) -> None:
    catalog = shelf(*rows)
    expected = [meets(product, constraint) for product in rows]
    assert satisfied(catalog, constraint, slice(None)).tolist() == expected
    assert [is_satisfied(catalog, constraint, row) for row in range(catalog.size)] == expected
    backwards = np.arange(catalog.size, dtype=np.int32)[::-1]
    assert satisfied(catalog, constraint, backwards).tolist() == expected[::-1]


@given(shelves, st.lists(constraints, max_size=4))
def test_all_satisfied_keeps_the_order_given(rows: list[Product], wanted: list[Constraint]) -> None:
    catalog = shelf(*rows)
    backwards = np.arange(catalog.size, dtype=np.int32)[::-1]
    expected = [row for row in backwards.tolist() if all(meets(rows[row], constraint) for constraint in wanted)]
    assert all_satisfied(catalog, wanted, backwards).tolist() == expected


@pytest.mark.parametrize(
    "constraint",
    [
        *(Constraint(name, op, 0.0) for name in (*NUMERIC, "price", "rating") for op in (Op.EQ, Op.AT_LEAST)),
        *(Constraint(name, Op.AT_MOST, 1e12) for name in (*NUMERIC, "price", "rating")),
        *(Constraint(name, Op.EQ, "red") for name in (*DISCRETE, "brand")),
        *(Constraint(name, Op.EQ, -1) for name in (*DISCRETE, *NUMERIC, "brand", "price", "rating")),
        *(Constraint(name, Op.ANY_OF, ("red", "Northwick", "")) for name in (*DISCRETE, "brand")),
    ],
)
def test_unknown_satisfies_nothing(constraint: Constraint) -> None:
    assert not is_satisfied(shelf(EVERYTHING, NOTHING), constraint, 1)


@pytest.mark.parametrize(
    ("op", "price", "met"),
    [
        (Op.AT_LEAST, 1299, True),
        (Op.AT_LEAST, 1300, False),
        (Op.AT_MOST, 5000, False),
        (Op.EQ, 1299, False),
    ],
)
def test_a_floor_price_only_satisfies_lower_bounds(op: Op, price: int, met: bool) -> None:
    catalog = shelf(replace(EVERYTHING, price_is_floor=True))
    assert is_satisfied(catalog, Constraint("price", op, price), 0) is met


@pytest.mark.parametrize(
    "constraint",
    [
        Constraint("color", Op.ANY_OF, "red"),
        Constraint("color", Op.EQ, ("red",)),
        Constraint("color", Op.AT_MOST, "red"),
        Constraint("brand", Op.AT_LEAST, 3.0),
    ],
)
def test_a_constraint_that_makes_no_sense_is_refused(constraint: Constraint) -> None:
    with pytest.raises(TypeError):
        satisfied(shelf(EVERYTHING), constraint, slice(None))


def test_words_compare_without_case_and_numbers_never_equal_words() -> None:
    catalog = shelf(EVERYTHING)
    assert is_satisfied(catalog, Constraint("color", Op.EQ, "RED"), 0)
    assert not is_satisfied(catalog, Constraint("color", Op.EQ, 0), 0)
    assert not is_satisfied(catalog, Constraint("wattage", Op.EQ, "8"), 0)


def test_lookups_of_what_is_not_there() -> None:
    catalog = shelf(EVERYTHING, NOTHING)
    with pytest.raises(UnknownProductError, match="'LAMP2'"):
        catalog.row_of("LAMP2")
    with pytest.raises(UnknownAttributeError, match="'colour'"):
        catalog.column("colour")
    assert catalog.rows_of_category("sofas").size == 0
    assert catalog.value(1, "color") is None
    assert catalog.value(1, "price") is None
    assert catalog.value(0, "wattage") == 8.0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((), "at least one product"),
        ((EVERYTHING, EVERYTHING), "same id"),
        ((replace(EVERYTHING, category="sofas"),), "not listed.*sofas"),
        ((replace(EVERYTHING, attributes={"colour": "red"}),), "no column holds.*colour"),
        ((replace(EVERYTHING, attributes={"color": 7.0}),), "color of product LAMP1 should be a word"),
        ((replace(EVERYTHING, attributes={"wattage": "8"}),), "wattage of product LAMP1 should be a number"),
    ],
)
def test_what_cannot_be_a_catalog_is_refused(rows: tuple[Product, ...], message: str) -> None:
    with pytest.raises(CatalogError, match=message):
        shelf(*rows)


@given(st.lists(st.integers(-1, 6), max_size=30))
def test_postings_group_rows_by_code(codes: list[int]) -> None:
    postings = Postings(np.array(codes, dtype=np.int32), 7)
    for code in range(-2, 9):
        expected = [row for row, own in enumerate(codes) if own == code and 0 <= code < 7]
        assert postings.rows(code).tolist() == expected


@given(st.lists(st.text(max_size=8), max_size=8))
def test_texts_come_back_with_lone_surrogates_replaced(written: list[str]) -> None:
    packed = Texts.pack([*written, "lone \ud800"])
    assert len(packed) == len(written) + 1
    assert [packed[row] for row in range(len(packed))] == [*written, "lone ?"]


@pytest.mark.parametrize(
    "change",
    [
        {"id": "LAMP9"},
        {"title": "Lamp, Polished"},
        {"category": "mugs"},
        {"description": "A lamp!"},
        {"features": ("Bright Tall",)},
        {"brand": None},
        {"store": None},
        {"price_cents": None},
        {"price_is_floor": True},
        {"price_high_cents": 2999},
        {"price_high_cents": None},
        {"currency": "EUR"},
        {"currency": None},
        {"provenance": {"color": "details.Color: Cherry Red"}},
        {"provenance": {}},
        {"rating": 4.4},
        {"rating_count": 13},
        {"ship_days": 4},
        {"stock": 0},
        {"attributes": {**EVERYTHING.attributes, "color": "blue"}},
        {"attributes": {"material": "brass", "wattage": 8.0, "weight": 950.0}},
        {"attributes": {**EVERYTHING.attributes, "wattage": 9.0}},
    ],
)
def test_the_fingerprint_tells_catalogs_apart(change: dict[str, Any]) -> None:
    fingerprint = shelf(EVERYTHING, NOTHING).fingerprint
    assert fingerprint == shelf(EVERYTHING, NOTHING).fingerprint
    assert fingerprint != shelf(replace(EVERYTHING, **change), NOTHING).fingerprint


def test_the_fingerprint_depends_on_order_and_categories() -> None:
    fingerprint = shelf(EVERYTHING, NOTHING).fingerprint
    assert fingerprint != shelf(NOTHING, EVERYTHING).fingerprint
    others = (MUGS, replace(LAMPS, variant_attribute="color"))
    assert fingerprint != Catalog.from_products((EVERYTHING, NOTHING), others).fingerprint
