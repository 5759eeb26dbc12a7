"""Scores of product lists: min–max scaling and nDCG, in exact arithmetic (SPEC §6).

Gains are fractions over one common denominator. So equally good products compare equal however their gains were
computed, and a list that is as good as the best one scores exactly 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import log2
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Key = TypeVar("Key", bound=Hashable)

_MANY = 32
"""With more products than this many times the wanted number, the best are selected before they are sorted."""
_DIGITS = 10**12
"""Discounts are rounded to multiples of 1 / ``_DIGITS``, so that they are the same numbers on every machine."""


@lru_cache(maxsize=1024)
def discount(place: int) -> Fraction:
    """Return 1 / log2(place + 2), rounded to twelve digits; ``place`` counts from 0.

    >>> discount(0), discount(2)
    (Fraction(1, 1), Fraction(1, 2))
    """
    return Fraction(round(_DIGITS / log2(place + 2)), _DIGITS)


def ndcg(given: Sequence[Fraction], best: Sequence[Fraction]) -> Fraction:
    """Return the discounted gains of a list as a share of those of the best possible list; in [0, 1].

    ``best`` holds the k greatest possible gains in descending order; only the first k of ``given`` count. If all gains
    in ``best`` are 0, every list scores 1.

    >>> ndcg([Fraction(1, 2), Fraction(1)], [Fraction(1), Fraction(1, 2)]) < 1
    True
    """
    ideal = _discounted(best)
    return _discounted(given[: len(best)]) / ideal if ideal else Fraction(1)


def _discounted(gains: Iterable[Fraction]) -> Fraction:
    return sum((gain * discount(place) for place, gain in enumerate(gains) if gain), Fraction(0))


def min_max(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return the values scaled to [0, 1], as numerators and their common denominator; if all are equal, each is 1.

    >>> min_max(np.array([3, 5, 4]))
    (array([0, 2, 1]), 2)
    """
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    return (values - low, high - low) if high > low else (np.ones_like(values), 1)


@dataclass(frozen=True, eq=False, slots=True)
class Gains:
    """The gain of each product in ``rows``; every other product gains 0."""

    rows: NDArray[np.int32]
    """Ascending."""
    numerators: NDArray[np.int64]
    denominator: int

    def of(self, row: int) -> Fraction:
        """Return the gain of a product; 0 if it is not in ``rows``."""
        at = int(np.searchsorted(self.rows, row))
        if at == len(self.rows) or self.rows[at] != row:
            return Fraction(0)
        return Fraction(int(self.numerators[at]), self.denominator)

    def best_rows(self, k: int) -> list[int]:
        """Return at most ``k`` products, the greatest gain first; ties are ordered by row."""
        rows, gains = self.rows, self.numerators
        if 0 < k < len(rows) // _MANY:
            kept = np.flatnonzero(gains >= np.partition(gains, len(gains) - k)[len(gains) - k])
            rows, gains = rows[kept], gains[kept]
        best: list[int] = rows[np.argsort(-gains, kind="stable")[:k]].tolist()
        return best

    def score(self, given: Sequence[int | None], k: int) -> Fraction:
        """Return nDCG@min(k, number of products in ``rows``) of a list; a repeated product gains nothing."""
        best = [self.of(row) for row in self.best_rows(k)]
        seen: set[int] = set()
        gains = []
        for row in given[: len(best)]:
            gains.append(Fraction(0) if row is None or row in seen else self.of(row))
            if row is not None:
                seen.add(row)
        return ndcg(gains, best)


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
