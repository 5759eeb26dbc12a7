"""Quantities in other units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.shop_words.measures import is_quantity, same_measures
from ecom_rlve.catalog.shop_words.splitting import split_groups


@pytest.mark.parametrize(
    ("asked", "sold"),
    [
        ("27 inch", "68.5 cm"),
        ('15.6"', "39.6 cm"),
        ("69 cm", "27 inches"),
        ("6 ft", "183 cm"),
        ("12 oz", "340 g"),
        ("12 oz", "355 ml"),
        ("5 lb", "2268 g"),
        ("1 gallon", "3.785 l"),
        ("750 ml", "25.4 oz"),
    ],
)
def test_the_same_quantity_is_found_in_another_unit(asked: str, sold: str) -> None:
    (group,) = split_groups(asked)
    assert is_quantity(group)
    (other,) = split_groups(sold)
    assert other[1] in same_measures(group[1])


@pytest.mark.parametrize(("asked", "sold"), [("27 inch", "27 cm"), ("27 inch", "70 cm"), ("1 inch", "3 cm")])
def test_other_quantities_are_not(asked: str, sold: str) -> None:
    (group,), (other,) = split_groups(asked), split_groups(sold)
    assert other[1] not in same_measures(group[1])


@given(st.text(max_size=20))
def test_any_text_is_no_quantity_or_has_readings(text: str) -> None:
    assert isinstance(same_measures(text), tuple)
    assert all(isinstance(same_measures(group[1]), tuple) for group in split_groups(text) if is_quantity(group))


@pytest.mark.parametrize("word", ["blue", "7w", "", "3d"])
def test_what_has_no_other_unit_has_none(word: str) -> None:
    assert same_measures(word) == ()
