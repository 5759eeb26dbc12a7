"""The numeric attributes that a product's details state, in canonical units. Contradicting statements mean unknown.

Words must be confirmed by the product's text, numbers need not: hardly any text repeats a weight. A number with a unit
of the right kind, which agrees with all other numbers of the details, is unlikely to be a careless entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Literal

from ecom_rlve.catalog.rows.provenance import Details, Stated
from ecom_rlve.catalog.shop_words.units import Dimensions, Unit, read_dimensions, read_quantity

_ITEM_WEIGHT = ("item weight", "weight", "product weight")
_PACKAGE_WEIGHT = ("package weight", "shipping weight", "item package weight")
_ITEM_SIZES = ("product dimensions", "item dimensions lxwxh", "item dimensions l x w x h", "item dimensions")
_PACKAGE_SIZES = ("package dimensions", "item package dimensions l x w x h")
_LENGTH = ("item length", "length", "cable length")
_PLAIN: dict[str, tuple[Unit, tuple[str, ...]]] = {
    "wattage": ("W", ("wattage", "output wattage", "power")),
    "screen_size": ("cm", ("screen size", "standing screen display size", "display size")),
    "capacity": ("ml", ("capacity", "volume", "item volume", "liquid volume", "volume capacity")),
    "battery_life": ("h", ("battery life", "battery average life", "average battery life (in hours)")),
}
_TOLERANCE = 0.05
"""Relative difference that two roundings of one measurement may have."""
_LIGHTEST_SHARE = 0.1
"""If a product weighs less than this share of its package, one of the weights is wrong."""
_SLACK = 0.05
"""cm by which rounding may have shortened a side."""
_DENSITIES = (0.0012, 23.0)
"""g/cm³, from about that of air to more than that of any metal. Outside these bounds a size or weight is wrong."""


def numeric_attributes(details: Details) -> dict[str, Stated[float]]:
    """Return the numeric attributes by name, each with its origin."""
    sizes = _boxes(details, _ITEM_SIZES)
    weight = _agreed([*_read(details, _ITEM_WEIGHT, "g"), *_sides(sizes, "weight_g")])
    length = _agreed([*_read(details, _LENGTH, "cm"), *_sides(sizes, "length_cm")])
    if weight is not None and not all(_is_possible(weight.value, size.value) for size in sizes):
        weight = length = None
    values = {
        "weight": weight if weight is not None and _fits_package(weight.value, details) else None,
        "length": length,
        **{name: _agreed(_read(details, keys, unit)) for name, (unit, keys) in _PLAIN.items()},
    }
    return {name: value for name, value in values.items() if value is not None}


def _fits_package(weight_g: float, details: Details) -> bool:
    packages = [*_read(details, _PACKAGE_WEIGHT, "g"), *_sides(_boxes(details, _PACKAGE_SIZES), "weight_g")]
    return all(_LIGHTEST_SHARE <= weight_g / package.value <= 1 + _TOLERANCE for package in packages)


def _is_possible(weight_g: float, size: Dimensions) -> bool:
    if len(size.sides_cm) < 3:
        return True
    least, most = (density * prod(side + _SLACK for side in size.sides_cm) for density in _DENSITIES)
    return least <= weight_g <= most


def _read(details: Details, keys: Iterable[str], unit: Unit) -> list[Stated[float]]:
    stated = [(read_quantity(raw, unit), key, raw) for _, key, raw in details.stated(keys)]
    return [Stated(value, key, raw) for value, key, raw in stated if value is not None]


def _boxes(details: Details, keys: Iterable[str]) -> list[Stated[Dimensions]]:
    stated = [(read_dimensions(raw), key, raw) for _, key, raw in details.stated(keys)]
    return [Stated(box, key, raw) for box, key, raw in stated if box]


def _sides(boxes: Iterable[Stated[Dimensions]], measure: Literal["weight_g", "length_cm"]) -> list[Stated[float]]:
    stated = [(getattr(box, measure), key, raw) for box, key, raw in boxes]
    return [Stated(value, key, raw) for value, key, raw in stated if value is not None]


def _agreed(statements: Iterable[Stated[float]]) -> Stated[float] | None:
    """Return the first of several statements that agree, None where there is none or two differ."""
    known = list(statements)
    values = [stated.value for stated in known]
    return known[0] if known and max(values) <= min(values) * (1 + _TOLERANCE) else None
