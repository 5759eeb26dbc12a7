"""Kinds of products from category paths, labels and titles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.kinds.leaf_categories import leaf_and_origin, leaf_of_path
from ecom_rlve.catalog.kinds.leaf_names import UNKNOWN


@pytest.mark.parametrize(
    ("path", "singular", "plural"),
    [
        (["Clothing, Shoes & Jewelry", "Women", "Clothing", "Dresses", "Casual"], "dress", "dresses"),
        (["Clothing, Shoes & Jewelry", "Men", "Clothing", "Jeans"], "pair of jeans", "jeans"),
        (["Home & Kitchen", "Bath", "Bath Rugs"], "bath mat", "bath mats"),
        (["Home & Kitchen", "Kitchen Rugs"], "kitchen rug", "kitchen rugs"),
        (["Shoes", "Women"], "pair of shoes", "shoes"),
        (["Toys", "Puzzles"], "jigsaw puzzle", "jigsaw puzzles"),
        (["Electronics", "Televisions"], "television", "televisions"),
        (["Electronics", "Audio", "Car Amplifiers"], "car amplifier", "car amplifiers"),
        (["Apparel & Accessories", "Jewelry", "Rings"], "ring", "rings"),
        (["Pet Supplies", "Dogs", "Beds"], "dog bed", "dog beds"),
        (["Books", "Romance", "Regency"], "book", "books"),
        (["Shop All Mugs"], "mug", "mugs"),
        (["Kitchen", "Salt and Pepper Shakers"], "salt and pepper shaker", "salt and pepper shakers"),
        (["Office", "Diaries & Journals"], "journal", "journals"),
    ],
)
def test_a_category_path_names_a_kind(path: list[str], singular: str, plural: str) -> None:
    leaf = leaf_of_path(path)
    assert leaf is not None
    assert (leaf.singular, leaf.plural) == (singular, plural)
    assert leaf.path[0] == path[0] or leaf.path == (leaf.family, plural.capitalize())


@pytest.mark.parametrize(
    "path",
    [
        ["Black"],
        ["For Him"],
        ["Health", "Infection"],
        ["Health", "Hypertension"],
        ["New Arrivals"],
        ["Sale"],
        ["Toys"],
        ["Clothing", "Shirts & Tops"],
        ["Jewelry", "Accessories"],
        ["Electronics", "Televisions", "Accessories"],
        ["Electronics", "Televisions", "Wall Mounting"],
        ["Beauty & Personal Care", "Makeup"],
        ["CDs & Vinyl", "Pop"],
        ["Medicine", "Tablets"],
    ],
)
def test_a_path_without_a_thing_names_no_kind(path: list[str]) -> None:
    assert leaf_of_path(path) is None
    assert leaf_and_origin("Zanthor 5", path, None) == (UNKNOWN, "")


@pytest.mark.parametrize(
    ("title", "path", "label", "plural", "origin"),
    [
        ("Zanthor 5", ["Eyewear", "Goggles"], None, "goggles", "categories"),
        ("Streaming Stick 4K", ["TV"], None, "streaming devices", "title"),
        ("Velvet Dress", ["Nail Polish"], None, "other items", ""),
        ("Pine Rug", ["Home", "Kitchen Rugs"], None, "kitchen rugs", "categories"),
        ("Harbor Fleece Hoodie", ["Clothing", "Shirts & Tops"], None, "hoodies", "title"),
        ("Pull Down Projector Screen", ["Electronics", "Projectors"], None, "projector screens", "title"),
        ("The Red Tent", ["Books", "Novels", "Historical"], None, "books", "categories"),
        ("Leather Anchor", [], "Bracelet", "bracelets", "main_category"),
        ("Clay Plant Pot", [], "Outdoor", "plant pots", "title"),
        ("LED Desk Lamp", [], "Electronics", "desk lamps", "title"),
        ("Green Tea", ["Grocery", "Tea", "Black"], None, "teas", "categories"),
        ("Samsung Galaxy Tab 10.4 Inch Tablet", ["Electronics", "Computers"], None, "tablets", "title"),
    ],
)
def test_path_label_and_title_decide_together(
    title: str, path: list[str], label: str | None, plural: str, origin: str
) -> None:
    leaf, decided = leaf_and_origin(title, path, label)
    assert (leaf.plural, decided) == (plural, origin)


@given(st.text(max_size=80), st.lists(st.text(max_size=20), max_size=3), st.none() | st.text(max_size=20))
def test_any_product_has_a_leaf(title: str, path: list[str], label: str | None) -> None:
    leaf, origin = leaf_and_origin(title, path, label)
    assert leaf.singular
    assert leaf.plural == leaf.plural.casefold()
    assert (leaf == UNKNOWN) == (origin == "")
