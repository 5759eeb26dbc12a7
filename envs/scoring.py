"""Exact scores from which task rewards are made (SPEC §4, §6)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def unit_f1(wanted: Mapping[Key, int], given: Mapping[Key, int]) -> Fraction:
    """Return the F1 score over units: 2·|common units| / (units wanted + units given), in [0, 1].

    Keys of both mappings are compared as they are; counts are non-negative. Nothing wanted and nothing given is 1.

    >>> unit_f1({"charger": 1, "fryer": 1, "top XS": 3}, {"charger": 1, "top XL": 3, "top XS": 2, "fryer B": 1})
    Fraction(1, 2)
    """
    total = sum(wanted.values()) + sum(given.values())
    if not total:
        return Fraction(1)
    common = sum(min(count, given.get(key, 0)) for key, count in wanted.items())
    return Fraction(2 * common, total)
