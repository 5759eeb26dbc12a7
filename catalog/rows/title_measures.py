"""Measures that a title states of the thing it names: "65 Inch … TV", "32 oz Water Bottle", "Pack of 6".

Which measures a title can state without doubt depends on the thing: the inches of a television are those of its screen,
those of a skillet are not. Only what stands outside complements counts ("Case for 10.1 Inch Tablet"), and only if the
title states one such measure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ecom_rlve.catalog.kinds.nouns import Leaf, bare
from ecom_rlve.catalog.kinds.title_parts import without_complements
from ecom_rlve.catalog.rows.provenance import Stated
from ecom_rlve.catalog.shop_words.units import Unit, read_quantity

_SCREENS = ("television", "monitor", "laptop", "tablet", "smartphone", "e-reader", "digital frame", "projector screen")
_VESSELS = (
    *("bottle", "water bottle", "baby bottle", "tumbler", "mug", "cup", "thermos", "jar", "drinking glass", "pitcher"),
    *("wine glass", "carafe", "decanter", "beer stein", "hip flask", "travel mug", "tea cup", "teapot", "kettle"),
)
_LONG = (
    *("cable", "charging cable", "hdmi cable", "ethernet cable", "power cable", "extension cord", "garden hose"),
    *("rope", "leash", "string lights", "led strip", "tape", "ladder", "chain", "curtain rod", "lanyard"),
)
_WEIGHTS = ("dumbbells", "kettlebell", "weight plate", "medicine ball", "barbell", "ankle weight", "weight vest")
_DRINKS = (
    *("juice", "milk", "soda", "beer", "wine", "whiskey", "vodka", "rum", "gin", "tequila", "liqueur", "cider", "sake"),
    *("sparkling water", "bottled water", "coconut water", "energy drink", "sports drink", "lemonade", "kombucha"),
)
_POWERED = ("Electronics", "Cables", "Home", "Kitchen", "Tools", "Garden", "Grooming")
_HOLDING = ("Kitchen", "Bags", "Beauty", "Cleaning", "Food", "Garden", "Sports", "Home", "Pets", "Automotive")
_PACKED = (
    *("Food", "Health", "Medical", "Beauty", "Grooming", "Cleaning", "Baby", "Pets", "Office", "Hardware", "Home"),
    *("Electronics", "Kitchen", "Garden", "Crafts", "Industry", "Automotive"),
)
_PACK = re.compile(r"\bpack of (\d{1,3})\b|\b(\d{1,3})[ -]?pack\b", re.IGNORECASE)
_NUMBER = r"(?<![\w.,/x-])\d+(?:\.\d+)?"


@dataclass(frozen=True, slots=True)
class _Measure:
    """One measure that titles of some things state."""

    name: str
    unit: Unit
    spelled: str
    """Regular expression of its units as titles write them."""
    kinds: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    bounds: tuple[float, float] = (0, 1e6)
    """Other values are something else, in the canonical unit."""

    def fits(self, leaf: Leaf) -> bool:
        """Say whether titles of a leaf state it."""
        thing = bare(leaf.singular)
        return leaf.family in self.families or thing in self.kinds or thing.split()[-1] in self.kinds


_MEASURES = (
    _Measure("screen_size", "cm", r"inch(?:es)?|in|\"", _SCREENS, bounds=(7, 400)),
    _Measure("capacity", "ml", r"ml|cl|l|liters?|litres?|fl\.? ?oz|quarts?|qt|gallons?|gal", families=_HOLDING),
    _Measure("length", "cm", r"feet|foot|ft|m|meters?|metres?|yards?|yd|inch(?:es)?|cm", _LONG),
    _Measure("weight", "g", r"g|grams?|kg|lbs?|pounds?|oz|ounces?", _WEIGHTS),
    _Measure("wattage", "W", r"w|watts?|kw", families=_POWERED, bounds=(1, 20_000)),
)
_OUNCES = _Measure("capacity", "ml", r"oz|ounces?", _VESSELS)
_NET = _Measure("weight", "g", r"g|grams?|kg|lbs?|pounds?|oz|ounces?", families=("Food",))


def titled_measures(title: str, leaf: Leaf) -> dict[str, Stated[str] | Stated[float]]:
    """Return the measures that a product's title states, by attribute: numbers, and for packs the size "6-pack"."""
    text = without_complements(title)
    found: dict[str, Stated[str] | Stated[float]] = {}
    for measure in _measures_of(leaf):
        values = set(_values(text, measure))
        if len(values) == 1 and measure.name not in found:
            found[measure.name] = Stated(values.pop(), "title", title)
    packs = {int(each[1] or each[2]) for each in _PACK.finditer(title)} if leaf.family in _PACKED else set()
    if packs:
        # What a pack weighs, or one of its items, is not certain.
        found.pop("weight", None)
    if len(packs) == 1 and min(packs) > 1:
        found["size"] = Stated(f"{min(packs)}-pack", "title", title)
    return found


def _measures_of(leaf: Leaf) -> Iterator[_Measure]:
    yield from (measure for measure in _MEASURES if measure.fits(leaf))
    if _OUNCES.fits(leaf):
        yield _OUNCES
    if _NET.fits(leaf) and bare(leaf.singular) not in _DRINKS:
        yield _NET


def _values(text: str, measure: _Measure) -> Iterator[float]:
    for found in re.finditer(rf"({_NUMBER})[ -]?({measure.spelled})(?![\w/]| ?-?equiv)", text, re.IGNORECASE):
        unit = "fl oz" if measure is _OUNCES else found[2]
        value = read_quantity(f"{found[1]} {unit}", measure.unit)
        if value is not None and measure.bounds[0] <= value <= measure.bounds[1]:
            yield value
