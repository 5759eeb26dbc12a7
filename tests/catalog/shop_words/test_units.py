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


SPELLINGS: dict[Unit, dict[float, str]] = {
    "g": {
        2: "g|gr|gm|gms|gram|grams|gramme|grammes|G.",
        2000: "kg|kgs|kilo|kilos|kilogram|kilograms|kilogramme|kilogrammes|KG",
        56.7: "oz|ozs|ounce|ounces|Oz.",
        907.18: "lb|lbs|pound|pounds|Lbs.",
    },
    "cm": {
        2: "cm|cms|centimeter|centimeters|centimetre|centimetres",
        0.2: "mm|millimeter|millimeters|millimetre|millimetres",
        200: "m|meter|meters|metre|metres",
        5.08: "in|inch|inches|\"|''|″|”",
        60.96: "ft|foot|feet|'|′|’",
        182.88: "yd|yds|yard|yards|Yards",
    },
    "W": {2: "w|watt|watts|W", 2000: "kw|kws|kilowatt|kilowatts|kW"},
    "ml": {
        2: "ml|mls|milliliter|milliliters|millilitre|millilitres|cc|ccm",
        20: "cl|centiliter|centiliters|centilitre|centilitres",
        200: "dl|deciliter|deciliters|decilitre|decilitres",
        2000: "l|ltr|ltrs|lt|liter|liters|litre|litres|L",
        59.15: "fl oz|fl. oz.|floz|fluid ounce|fluid ounces|fl-oz|Fl. Ounces",
        473.18: "cup|cups|Cups",
        946.35: "pt|pint|pints|Pints",
        1892.71: "qt|qts|quart|quarts|Quarts",
        7570.82: "gal|gals|gallon|gallons|Gal.",
    },
    "h": {2: "h|hr|hrs|hour|hours", 0.03: "min|mins|minute|minutes", 48: "day|days"},
}
"""What two of a thing come to, in canonical units: by hand, from the definitions of the units."""


@pytest.mark.parametrize(
    ("spelling", "unit", "value"),
    [
        (spelling, unit, value)
        for unit, by_value in SPELLINGS.items()
        for value, spellings in by_value.items()
        for spelling in spellings.split("|")
    ],
)
@pytest.mark.parametrize("form", ["2 {}", "2{}", "2.0 {}", "4/2 {}"])
def test_every_unit_is_read_in_every_spelling(form: str, spelling: str, unit: Unit, value: float) -> None:
    assert read_quantity(form.format(spelling), unit) == value
    others = [other for other in SPELLINGS if other != unit]
    assert [read_quantity(form.format(spelling), other) for other in others] == [None] * len(others)


@pytest.mark.parametrize(
    ("raw", "unit", "value"),
    [
        ("500 mg", "g", 0.5),
        ("1500 milligrams", "g", 1.5),
        ("250 milliwatts", "W", 0.25),
        ("1 gal 2 qt", "ml", 5678.12),
        ("1 quart 1 pint 1 cup", "ml", 1656.12),
        ("1 yd 1 ft 1 in", "cm", 124.46),
        ("1 day 6 hours 30 min", "h", 30.5),
        ("1/2 cup", "ml", 118.29),
        ("1-1/2 gallons", "ml", 5678.12),
        ("12 cups", "ml", 2839.06),
    ],
)
def test_parts_and_several_units_add_up(raw: str, unit: Unit, value: float) -> None:
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
