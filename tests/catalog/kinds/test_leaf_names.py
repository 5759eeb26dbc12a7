"""One name for each leaf category of a catalog, and what its products come in variants of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.kinds.leaf_categories import leaf_of_path
from ecom_rlve.catalog.kinds.leaf_names import category_of, unique_names
from ecom_rlve.catalog.kinds.nouns import Leaf
from ecom_rlve.catalog.kinds.title_heads import head_of_title
from ecom_rlve.catalog.product import Category


def _leaf(*path: str) -> Leaf:
    leaf = leaf_of_path(path)
    assert leaf is not None
    return leaf


def test_namesakes_for_different_people_are_told_apart() -> None:
    names = unique_names(_leaf(*path) for path in (("Women", "Jeans"), ("Girls", "Jeans"), ("Shop", "Hats")))
    assert sorted((leaf.singular, leaf.plural) for leaf in names.values()) == [
        ("hat", "hats"),
        ("pair of girls' jeans", "girls' jeans"),
        ("pair of women's jeans", "women's jeans"),
    ]


def test_other_namesakes_are_one_kind() -> None:
    titled = head_of_title("Silver Ring")
    assert titled is not None
    names = unique_names([_leaf("Apparel & Accessories", "Jewelry", "Rings"), titled.leaf])
    assert {(leaf.singular, leaf.plural) for leaf in names.values()} == {("ring", "rings")}
    assert len(set(names.values())) == 1


_ELEMENTS = st.sampled_from(["Women", "Girls", "Shoes", "Dresses", "DRESSES", "Casual", "A & B", "Sets", "&", "Rings"])


@given(st.lists(st.lists(_ELEMENTS, min_size=1, max_size=4), max_size=12))
def test_names_are_unique_whatever_the_paths(paths: list[list[str]]) -> None:
    leaves = [leaf for leaf in map(leaf_of_path, paths) if leaf is not None]
    chosen = set(unique_names(leaves).values())
    assert len({leaf.plural for leaf in chosen}) == len(chosen)
    assert {leaf.plural.casefold() for leaf in chosen} == {leaf.plural for leaf in chosen}


def _values(_: Category, attribute: str) -> tuple[str, ...]:
    return {"size": ("large", "small"), "color": ("black", "red")}.get(attribute, ("odd",))


@pytest.mark.parametrize(
    ("title", "attribute"),
    [("plain", "size"), ("plain large", "color"), ("black large", "style"), ("largest blackened", "size")],
)
def test_variants_come_in_the_first_attribute_that_titles_do_not_name(title: str, attribute: str) -> None:
    leaf = _leaf("Clothing", "Jackets")
    assert category_of(leaf, [title] * 10, _values).variant_attribute == attribute
    assert category_of(leaf, [title] + ["plain"] * 9, _values).variant_attribute == "size"


def test_where_titles_name_every_attribute_the_least_named_is_taken() -> None:
    titles = ["large black odd"] * 4 + ["large odd"] * 2
    assert category_of(_leaf("Clothing", "Jackets"), titles, _values).variant_attribute == "color"
