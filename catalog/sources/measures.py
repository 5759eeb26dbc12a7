"""The numeric attributes that a product's details state, in canonical units; what they contradict is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from ecom_rlve.catalog.units import Dimensions, Unit, read_dimensions, read_quantity

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
"""Relative difference that two roundings of one measurement may show."""
_LIGHTEST_SHARE = 0.1
"""A product that weighs less than this share of its package was weighed, or spelled, wrongly."""
_SLACK = 0.05
"""cm that rounding may have taken off a side."""
_DENSITIES = (0.0012, 23.0)
"""g/cm³, of air and beyond any metal: a box outside was measured, or weighed, wrongly."""


def numeric_attributes(details: Mapping[str, object]) -> dict[str, float]:
    """Return the numeric attributes by name; ``details`` has lower-case keys."""
    sizes = [size for size in (read_dimensions(details.get(key)) for key in _ITEM_SIZES) if size]
    weight = _agreed([*_read(details, _ITEM_WEIGHT, "g"), *(size.weight_g for size in sizes)])
    length = _agreed([*_read(details, _LENGTH, "cm"), *(size.length_cm for size in sizes)])
    if weight is not None and not all(_is_possible(weight, size) for size in sizes):
        weight = length = None
    values = {
        "weight": weight if weight is not None and _fits_package(weight, details) else None,
        "length": length,
        **{name: _agreed(_read(details, keys, unit)) for name, (unit, keys) in _PLAIN.items()},
    }
    return {name: value for name, value in values.items() if value is not None}


def _fits_package(weight_g: float, details: Mapping[str, object]) -> bool:
    boxes = [read_dimensions(details.get(key)) for key in _PACKAGE_SIZES]
    packages = [*_read(details, _PACKAGE_WEIGHT, "g"), *(box.weight_g for box in boxes if box)]
    return all(_LIGHTEST_SHARE <= weight_g / package <= 1 + _TOLERANCE for package in packages if package)


def _is_possible(weight_g: float, size: Dimensions) -> bool:
    if len(size.sides_cm) < 3:
        return True
    least, most = (density * prod(side + _SLACK for side in size.sides_cm) for density in _DENSITIES)
    return least <= weight_g <= most


def _read(details: Mapping[str, object], keys: Iterable[str], unit: Unit) -> list[float | None]:
    return [read_quantity(details.get(key), unit) for key in keys]


def _agreed(statements: Iterable[float | None]) -> float | None:
    """Return the first of several statements that agree, None where there is none or two differ."""
    known = [value for value in statements if value is not None]
    if not known or max(known) > min(known) * (1 + _TOLERANCE):
        return None
    return known[0]
