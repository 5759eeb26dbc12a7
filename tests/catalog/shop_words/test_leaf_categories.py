"""Leaf categories from titles and from category paths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.product import Category
from ecom_rlve.catalog.shop_words.leaf_categories import (
    Leaf,
    catch_all,
    category_of,
    leaf_and_origin,
    leaf_of_path,
    unique_names,
)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Thacher's Nook Kids Sunglasses Black Vintage Shades for Children", "sunglasses"),
        ("Canvas Cute Crossbody Handbags Cell Phone Purse Wallet Leaves Pattern Small Change Pouch", "crossbody bags"),
        ("Pro UV Protection Baseball Cap Hat Display Case Holder Stand Perfect for Baseball", "hat accessories"),
        ("Boot Doctor Women's Tall Boot Socks (2 Pair Pack), Medium, Grey", "socks"),
        ("Pedag Shoe Trees Ultra Lightweight for Pointed Toed Shoes", "shoe trees"),
        ("4 Pack Band Compatible with Apple Watch Band 49mm", "watch bands"),
        ("Dance Gift, Girls Pink Infinity Charm Bracelet", "bracelets"),
        ("1/4pcs 2023 Rabbit Keychain, Bunny Keyring, Handbag Purse Rabbit Pendants", "keychains"),
        ("Zombie Hunter Scope Sight Sniper Hat Jacket Tie Tack Lapel Pin", "lapel pins"),
        ("Little Fox Cute Short-Sleeve T-Shirt", "t-shirts"),
        ("Wooden Stone Bracelet", "bracelets"),
        ("Ninja AF101 Air Fryer that Crisps, Roasts & Dehydrates", "air fryers"),
        ("LED Desk Lamp with USB Charging Port", "lamps"),
        ("Anker Charger for iPhone Case", "chargers"),
        ("CINEMA SECRETS Super Sealer", "fashion items"),
    ],
)
def test_the_head_noun_of_a_title_decides(title: str, name: str) -> None:
    assert leaf_and_origin(title, [], "AMAZON FASHION")[0].plural == name


def test_a_catch_all_has_a_sensible_noun() -> None:
    leaf = leaf_and_origin("Belton Farms Red Fox, 7oz.", [], "AMAZON FASHION")[0]
    assert leaf == Leaf(("Amazon Fashion", "Fashion items"), "fashion item", "fashion items", "other")
    assert catch_all(None).plural == "general items"
    assert catch_all("Gift Cards").singular == "gift card item"


@pytest.mark.parametrize(
    ("path", "singular", "plural"),
    [
        (["Clothing, Shoes & Jewelry", "Women", "Clothing", "Dresses", "Casual"], "casual dress", "casual dresses"),
        (["Clothing, Shoes & Jewelry", "Men", "Clothing", "Jeans"], "pair of jeans", "jeans"),
        (["Home & Kitchen", "Bath", "Bath Rugs"], "bath rug", "bath rugs"),
        (["Sports", "Hats & Caps"], "hat or cap", "hats and caps"),
        (["Jewelry", "Accessories"], "jewelry accessory", "jewelry accessories"),
        (["Shoes", "Women"], "pair of women's shoes", "women's shoes"),
        (["Beauty & Personal Care", "Makeup"], "makeup", "makeup"),
        (["Toys"], "toy", "toys"),
    ],
)
def test_a_category_path_gives_its_last_elements(path: list[str], singular: str, plural: str) -> None:
    leaf = leaf_of_path(path)
    assert (leaf.path, leaf.singular, leaf.plural) == (tuple(path), singular, plural)


def test_the_source_s_own_path_goes_before_the_title() -> None:
    assert leaf_and_origin("Red Sunglasses", ["Eyewear", "Goggles"], None)[0].plural == "goggles"


def test_namesakes_are_told_apart_by_what_they_do_not_share() -> None:
    paths = [("Shop", "Women", "Jeans"), ("Shop", "Girls", "Jeans"), ("Shop", "Hats")]
    names = unique_names(leaf_of_path(path) for path in paths)
    assert sorted((leaf.singular, leaf.plural) for leaf in names.values()) == [
        ("hat", "hats"),
        ("pair of girls' jeans", "girls' jeans"),
        ("pair of women's jeans", "women's jeans"),
    ]


_ELEMENTS = st.sampled_from(["Women", "Girls", "Shoes", "Dresses", "DRESSES", "Casual", "A & B", "Sets", "&"])


@given(st.lists(st.lists(_ELEMENTS, min_size=1, max_size=4), max_size=12))
def test_names_are_unique_whatever_the_paths(paths: list[list[str]]) -> None:
    chosen = set(unique_names(leaf_of_path(path) for path in paths).values())
    assert len({leaf.plural for leaf in chosen}) == len(chosen)
    assert all(leaf.plural == leaf.plural.casefold() and leaf.singular for leaf in chosen)


@given(st.text(max_size=80))
def test_any_title_has_a_leaf(title: str) -> None:
    assert leaf_and_origin(title, [], None)[0].plural


def _values(_: Category, attribute: str) -> tuple[str, ...]:
    return {"size": ("large", "small"), "color": ("black", "red")}.get(attribute, ("odd",))


@pytest.mark.parametrize(
    ("title", "attribute"),
    [("plain", "size"), ("plain large", "color"), ("black large", "style"), ("largest blackened", "size")],
)
def test_variants_come_in_the_first_attribute_that_titles_do_not_name(title: str, attribute: str) -> None:
    leaf = leaf_of_path(["Clothing", "Jackets"])
    assert category_of(leaf, [title] * 10, _values).variant_attribute == attribute
    assert category_of(leaf, [title] + ["plain"] * 9, _values).variant_attribute == "size"


def test_where_titles_name_every_attribute_the_least_named_is_taken() -> None:
    titles = ["large black odd"] * 4 + ["large odd"] * 2
    assert category_of(leaf_of_path(["Clothing", "Jackets"]), titles, _values).variant_attribute == "color"
