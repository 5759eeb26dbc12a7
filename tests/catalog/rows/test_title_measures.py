"""Measures that titles state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.kinds.leaf_categories import leaf_and_origin
from ecom_rlve.catalog.rows.title_measures import titled_measures


def measures(title: str) -> dict[str, str | float]:
    found = titled_measures(title, leaf_and_origin(title, [], None)[0])
    assert all(stated.key == "title" and stated.raw == title for stated in found.values())
    return {name: stated.value for name, stated in found.items()}


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("65 Inch Class OLED 4K Smart TV", {"screen_size": 165.1}),
        ('Aero 15.6" Laptop - 32GB RAM', {"screen_size": 39.62}),
        ("27-Inch Curved Monitor", {"screen_size": 68.58}),
        ("Case for 10.1 Inch Tablet", {}),
        ("12 Inch Skillet", {}),
        ("32 oz Insulated Water Bottle", {"capacity": 946.35}),
        ("Water Bottle 1 Liter, Blue", {"capacity": 1000.0}),
        ("1.7L Electric Kettle 1500W", {"capacity": 1700.0, "wattage": 1500.0}),
        ("6 Quart Air Fryer with 2 Quart Basket", {"capacity": 5678.12}),
        ("LED Light Bulb 9W (60W Equivalent), Pack of 6", {"wattage": 9.0, "size": "6-pack"}),
        ("Paper Towels, 12-Pack", {"size": "12-pack"}),
        ("Crew Socks, 6 Pack", {}),
        ("USB C Cable 6 ft", {"length": 182.88}),
        ("50 ft Garden Hose", {"length": 1524.0}),
        ("10 lb Dumbbell", {"weight": 4535.92}),
        ("Raw Honey 500g", {"weight": 500.0}),
        ("Raw Honey 500g, Pack of 2", {"size": "2-pack"}),
        ("Orange Juice 12 oz", {}),
        ("Stretch Jeans 32 in 34", {}),
        ("Water Bottle 500 ml and 750 ml", {}),
    ],
)
def test_a_measure_counts_where_the_thing_leaves_no_doubt(title: str, expected: dict[str, str | float]) -> None:
    assert measures(title) == expected


@given(st.text(max_size=80))
def test_any_title_can_be_read(title: str) -> None:
    assert measures(title).keys() <= {"screen_size", "capacity", "length", "weight", "wattage", "size"}
