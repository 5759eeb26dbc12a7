"""Quantities as real product data spells them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.shop_words.units import Unit, read_dimensions, read_quantity


@pytest.mark.parametrize(
    ("raw", "unit", "value"),
    [
        ("22 Ounces", "g", 623.69),
        ("3.6 Ounces", "g", 102.06),
        ("0.704 ounces", "g", 19.96),
        ("3.8 Pounds", "g", 1723.65),
        ("1.25 pounds", "g", 566.99),
        ("0.04 Kilograms", "g", 40.0),
        ("260 Grams", "g", 260.0),
        ("1,200 g", "g", 1200.0),
        ("2 lb 3 oz", "g", 992.23),
        ("12 lbs.", "g", 5443.11),
        ("8 Inches", "cm", 20.32),
        ("6.7 Inches", "cm", 17.02),
        ('12"', "cm", 30.48),
        ("12”", "cm", 30.48),
        ("5-inch", "cm", 12.7),
        ("6-15/16 in.", "cm", 17.62),
        ("1 1/2 inches", "cm", 3.81),
        ("5' 6\"", "cm", 167.64),
        ("5 ft 6 in", "cm", 167.64),
        ("47 millimeters", "cm", 4.7),
        ("0.5 Centimeters", "cm", 0.5),
        ("2 Metres", "cm", 200.0),
        ("65 watts", "W", 65.0),
        ("1500W", "W", 1500.0),
        ("1.5 kW", "W", 1500.0),
        ("1 Fluid Ounces", "ml", 29.57),
        ("3.5 fl oz", "ml", 103.51),
        ("20 Fl. Oz", "ml", 591.47),
        ("1.7 Liters", "ml", 1700.0),
        ("500 Milliliters", "ml", 500.0),
        ("90 minutes", "h", 1.5),
        ("30 Hours", "h", 30.0),
    ],
)
def test_real_spellings_are_read(raw: str, unit: Unit, value: float) -> None:
    assert read_quantity(raw, unit) == value


@pytest.mark.parametrize(
    ("raw", "unit"),
    [
        ("22", "g"),
        ("Ounces", "g"),
        ("10-12 inches", "cm"),
        ("8 or 9 inches", "cm"),
        ("5 in 6 ft", "cm"),
        ("300 Pounds", "ml"),
        ("20 Ounces", "ml"),
        ("300 Milliamp Hours", "h"),
        ("100 Count (Pack of 1)", "g"),
        ("-3 g", "g"),
        ("0 g", "g"),
        ("1/0 in", "cm"),
        ("", "g"),
        (None, "g"),
        (3.6, "g"),
        ("9" * 150 + " g", "g"),
        ("拉链", "cm"),
    ],
)
def test_what_cannot_be_read_is_unknown(raw: object, unit: Unit) -> None:
    assert read_quantity(raw, unit) is None


@pytest.mark.parametrize(
    ("raw", "length", "sides", "weight"),
    [
        ("8.3 x 5.5 x 0.9 inches; 3.6 Ounces", 21.08, (21.08, 13.97, 2.29), 102.06),
        ("6 x 6 x 1 inches", 15.24, (15.24, 15.24, 2.54), None),
        ('48"L x 24"W', 121.92, (121.92, 60.96), None),
        ('8.75"D x 4.25"W x 11.25"H', None, (22.22, 10.8, 28.58), None),
        ("4.83 L x 7.37 H x 6.86 W (centimeters)", 4.83, (4.83, 7.37, 6.86), None),
        ("6-15/16 inches x 3-3/4 inches", None, (17.62, 9.52), None),
        ("50X50X0.1cm", 50.0, (50.0, 50.0, 0.1), None),
    ],
)
def test_dimensions(raw: str, length: float | None, sides: tuple[float, ...], weight: float | None) -> None:
    assert read_dimensions(raw) == (length, sides, weight)


@pytest.mark.parametrize("raw", ["8 x 8", "8 inches", "4*2*0.5（inch）", "8 x x 2 inches", "8 x 2 oz", "", None, 3])
def test_what_is_no_box_is_unknown(raw: object) -> None:
    assert read_dimensions(raw) is None


@given(
    st.integers(1, 10**6), st.sampled_from([("g", "grams"), ("cm", "cm"), ("W", "Watts"), ("ml", "ml"), ("h", "hours")])
)
def test_canonical_units_are_read_as_they_are(number: int, spelled: tuple[Unit, str]) -> None:
    unit, word = spelled
    assert read_quantity(f"{number:,} {word}", unit) == number


@given(st.one_of(st.text(), st.from_regex(r"[0-9 ./,x\"'a-z;()-]{0,60}")))
def test_no_text_raises(raw: str) -> None:
    value = read_quantity(raw, "cm")
    assert value is None or 0 < value <= 1e12
    read_dimensions(raw)
