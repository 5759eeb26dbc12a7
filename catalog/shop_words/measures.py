"""Quantities of a query in other units, as products may state them: 27 inches are 68.58 cm, and sold as 68.5 or 69."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal
from functools import lru_cache

from ecom_rlve.catalog.shop_words.splitting import measure_word

_FACTORS = {
    ("inch", "cm"): "2.54",
    ("ft", "cm"): "30.48",
    ("yd", "cm"): "91.44",
    ("oz", "g"): "28.349523",
    ("oz", "ml"): "29.573530",
    ("lb", "g"): "453.592370",
    ("gal", "ml"): "3785.411784",
    ("qt", "ml"): "946.352946",
}
"""How much of the second unit one of the first is, by the words' units; ounces are of weight or of volume."""
_CONVERSIONS = tuple(
    conversion
    for (unit, metric), factor in _FACTORS.items()
    for conversion in ((unit, metric, Decimal(factor)), (metric, unit, 1 / Decimal(factor)))
)
_STEPS = tuple(map(Decimal, ("0.01", "0.1", "0.5", "1", "5", "10", "50", "100")))
"""Products state quantities in such steps."""
_FARTHEST = Decimal("0.01")
"""A rounded quantity is the same one if it differs by at most this share."""
_QUANTITY = 2
"""Readings of a number with a unit: the bare number, and both as one word."""
_MEASURE = re.compile(r"(\d+(?:\.\d+)?)([a-z]+)")


def is_quantity(group: Sequence[str]) -> bool:
    """Tell whether the readings of a word are those of a number with a unit.

    >>> is_quantity(("27", "27inch")), is_quantity(("3d",)), is_quantity(("turbo", "200x"))
    (True, False, False)
    """
    return len(group) == _QUANTITY and group[0][0].isdigit() and _MEASURE.fullmatch(group[1]) is not None


@lru_cache(4096)
def same_measures(word: str) -> tuple[str, ...]:
    """Return the words of about the same quantity in other units; none for a word that is no quantity.

    >>> same_measures("27inch")
    ('68.58cm', '68.6cm', '68.5cm', '69cm', '68cm')
    """
    measure = _MEASURE.fullmatch(word)
    if measure is None:
        return ()
    found: dict[str, None] = {}
    for unit, other, factor in _CONVERSIONS:
        if unit != measure[2]:
            continue
        exact = Decimal(measure[1]) * factor
        for step in _STEPS:
            for rounding in (ROUND_HALF_UP, ROUND_DOWN, ROUND_UP):
                rounded = (exact / step).quantize(Decimal(1), rounding) * step
                if abs(rounded - exact) <= exact * _FARTHEST:
                    found[measure_word(rounded, other)] = None
    return tuple(found)
