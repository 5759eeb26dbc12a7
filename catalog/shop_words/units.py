"""Reading quantities of product data into canonical units: g, cm, W, ml, h.

A whole text must be a quantity: a number (or several, as in "5 ft 6 in"), each with a unit of the right kind, and
nothing else. A number without unit, a range, two alternatives and a unit of another kind are None. Nothing is guessed.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal, NamedTuple

Unit = Literal["g", "cm", "W", "ml", "h"]

_SPELLINGS: dict[Unit, dict[str, str]] = {
    "g": {
        "1": "g gr gm gms gram grams gramme grammes",
        "1000": "kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes",
        "0.001": "mg milligram milligrams",
        "28.349523125": "oz ozs ounce ounces",
        "453.59237": "lb lbs pound pounds",
    },
    "cm": {
        "1": "cm cms centimeter centimeters centimetre centimetres",
        "0.1": "mm millimeter millimeters millimetre millimetres",
        "100": "m meter meters metre metres",
        "2.54": "in inch inches \" ''",
        "30.48": "ft foot feet '",
        "91.44": "yd yds yard yards",
    },
    "W": {
        "1": "w watt watts",
        "1000": "kw kws kilowatt kilowatts",
        "0.001": "milliwatt milliwatts",
    },
    "ml": {
        "1": "ml mls milliliter milliliters millilitre millilitres cc ccm",
        "10": "cl centiliter centiliters centilitre centilitres",
        "100": "dl deciliter deciliters decilitre decilitres",
        "1000": "l ltr ltrs lt liter liters litre litres",
        "29.5735295625": "floz fluid-ounce fluid-ounces fl-oz fl-ounce fl-ounces fluid-oz",
        "236.5882365": "cup cups",
        "473.176473": "pt pint pints",
        "946.352946": "qt qts quart quarts",
        "3785.411784": "gal gals gallon gallons",
    },
    "h": {
        "1": "h hr hrs hour hours",
        "1/60": "min mins minute minutes",
        "24": "day days",
    },
}
_FACTORS: dict[Unit, dict[str, Fraction]] = {
    unit: {spelling: Fraction(factor) for factor, words in spellings.items() for spelling in words.split()}
    for unit, spellings in _SPELLINGS.items()
}
_TYPOGRAPHY = str.maketrans({"″": '"', "”": '"', "“": '"', "′": "'", "’": "'", "×": "x", "–": "-", "—": "-", "⁄": "/"})
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?:\d+(?:[ -]))?\d+/[1-9]\d*|\d+(?:\.\d+)?|\.\d+"
_QUANTITY = re.compile(rf"\s*(?P<number>{_NUMBER})\s*-?(?P<unit>\"|''|'|[a-z]+(?:[. -]+[a-z]+)*)\.?\s*,?", re.ASCII)
_SIDE = re.compile(rf"\s*(?P<number>{_NUMBER})\s*(?P<unit>\"|''|'|[a-z]*?)\.?\s*(?P<label>[lwhd])?\s*", re.ASCII)
_SIZES = re.compile(r"(?P<sides>[^();]+?)\s*(?:\((?P<unit>[a-z]+)\))?\s*(?:;(?P<weight>[^;]*))?", re.ASCII)
_LAST_UNIT = re.compile(r"(?P<sides>.*\d)\s*(?P<unit>[a-z]{2,})\.?", re.ASCII)
_MAX_QUANTITY = 1e12
_LONGEST = 200
"""Longer texts are no measurements. The bound keeps matching cheap for any file."""


class Dimensions(NamedTuple):
    """A box of up to three sides."""

    length_cm: float | None
    """The side stated as its length: labelled "L", or the first of three unlabelled sides; None = not stated."""
    sides_cm: tuple[float, ...]
    weight_g: float | None = None
    """The weight stated in the same text; None = not stated."""


def read_quantity(raw: object, unit: Unit) -> float | None:
    """Read a text such as "22 Ounces", "1,200 mm" or "5 ft 6 in" as a positive number of ``unit``, else None.

    Rounded to two decimals.

    >>> read_quantity("3.6 Ounces", "g"), read_quantity('12"', "cm"), read_quantity("1.5 kW", "W")
    (102.06, 30.48, 1500.0)
    """
    if not isinstance(raw, str) or len(raw) > _LONGEST:
        return None
    text = raw.strip().casefold().translate(_TYPOGRAPHY)
    total, at = Fraction(0), 0
    seen: list[Fraction] = []
    while at < len(text):
        match = _QUANTITY.match(text, at)
        factor = match and _factor(match["unit"], unit)
        if not match or not factor or (seen and factor >= seen[-1]):
            return None
        seen.append(factor)
        total += _number(match["number"]) * factor
        at = match.end()
    return _rounded(total)


def read_dimensions(raw: object) -> Dimensions | None:
    """Read "8.3 x 5.5 x 0.9 inches; 3.6 Ounces", '48"L x 24"W' or "4.8 L x 7.4 H x 6.9 W (centimeters)", else None.

    Three unlabelled sides are length, width, height, in the order that catalog data uses.
    """
    if not isinstance(raw, str) or len(raw) > _LONGEST:
        return None
    match = _SIZES.fullmatch(raw.strip().casefold().translate(_TYPOGRAPHY))
    if not match:
        return None
    text, common = match["sides"], match["unit"]
    last = _LAST_UNIT.fullmatch(text)
    if last and not common:
        text, common = last["sides"], last["unit"]
    sides = [_side(part, common) for part in re.split(r"\s*x\s*", text)]
    known = [side for side in sides if side]
    if not 2 <= len(known) == len(sides) <= 3:
        return None
    labels = [label for _, label in known]
    labelled = [value for value, label in known if label == "l"]
    length = labelled[0] if len(labelled) == 1 else None
    if not any(labels) and len(known) == 3:
        length = known[0][0]
    weight = match["weight"]
    return Dimensions(length, tuple(value for value, _ in known), read_quantity(weight, "g") if weight else None)


def _side(text: str, common: str | None) -> tuple[float, str | None] | None:
    match = _SIDE.fullmatch(text)
    factor = match and _factor(match["unit"] or common or "", "cm")
    value = _rounded(_number(match["number"]) * factor) if match and factor else None
    return (value, match["label"]) if match and value is not None else None


def _factor(spelling: str, unit: Unit) -> Fraction | None:
    return _FACTORS[unit].get("-".join(re.split(r"[. -]+", spelling)))


def _number(text: str) -> Fraction:
    return sum((Fraction(part) for part in re.split(r"[ -]", text.replace(",", ""))), Fraction(0))


def _rounded(value: Fraction) -> float | None:
    rounded = float(round(value, 2)) if value < _MAX_QUANTITY else 0.0
    return rounded if rounded > 0 else None
