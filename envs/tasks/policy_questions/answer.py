"""Answers of POLICY: their types, and a score for how near they come to the truth (SPEC §6)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from ecom_rlve.catalog.shop_words.currencies import CODES, DOLLARS, is_code, names_of
from ecom_rlve.envs.answer import Answer

_MOST = 10**12
_BLANKS = re.compile(r"\s+")

UNITS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("days", "day", "d"), "days"),
        **dict.fromkeys(("weeks", "week", "wk", "wks"), "weeks"),
        **dict.fromkeys(("hours", "hour", "h", "hr", "hrs"), "hours"),
        **dict.fromkeys(("percent", "%", "pct", "per cent", "percentage"), "percent"),
        **dict.fromkeys(("points", "point", "pts", "pt", "loyalty points"), "points"),
        **dict.fromkeys(("usd", "$", "us$", "dollars", "dollar", "us dollars"), "USD"),
        "date": "date",
    }
)
"""Every accepted spelling, casefolded → unit; no policy uses another unit, but for the currency of its catalog."""


def _real_date(text: str) -> str:
    date.fromisoformat(text)
    return text


Number = Annotated[int, Field(ge=-_MOST, le=_MOST)] | Annotated[float, Field(ge=-_MOST, le=_MOST)]
IsoDate = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), AfterValidator(_real_date)]
Value = Annotated[
    Number | IsoDate,
    WithJsonSchema({"type": ["number", "string"], "description": "A number, or a date as YYYY-MM-DD."}),
]


class PolicyAnswer(Answer):
    """What a rule comes to in the customer's case."""

    value: Value | None = None
    unit: Annotated[str, Field(max_length=32)] | None = Field(
        default=None, description="days, weeks, hours, percent, points, USD or date."
    )


def unit_of(spelling: str | None) -> str | None:
    """Return the unit that a spelling stands for; None if it is not accepted.

    >>> unit_of("Days"), unit_of(" % "), unit_of("fortnights")
    ('days', 'percent', None)
    """
    if spelling is None:
        return None
    plain = _BLANKS.sub(" ", spelling).strip().casefold()
    return UNITS.get(plain) or _currencies().get(plain)


@cache
def _currencies() -> Mapping[str, str]:
    """Return the code of every currency but the dollar by what names it alone; a shared name stands for none."""
    named = [(name, code) for code in sorted(CODES - {DOLLARS}) if is_code(code) for name in names_of(code)]
    counts = Counter(name for name, _ in named)
    return {name: code for name, code in named if counts[name] == 1}


def closeness(given: Fraction, truth: Fraction) -> Fraction:
    """Return 2·(min/max)⁴ - 1 for two numbers of the same sign, -1 if the signs differ, 1 if both are 0.

    >>> closeness(Fraction(45), Fraction(90)), closeness(Fraction(0), Fraction(0)), closeness(Fraction(-1), Fraction(1))
    (Fraction(-7, 8), Fraction(1, 1), Fraction(-1, 1))
    """
    if given == truth:
        return Fraction(1)
    if given * truth <= 0:
        return Fraction(-1)
    smaller, larger = sorted((abs(given), abs(truth)))
    return 2 * (smaller / larger) ** 4 - 1


def score(answer: PolicyAnswer, truth: Fraction | date, unit: str) -> Fraction:
    """Return how near an answer comes to the truth, -1 to 1. A date is right or wrong, and needs no unit."""
    value = answer.value
    if isinstance(truth, date):
        is_unit_right = answer.unit is None or unit_of(answer.unit) == "date"
        return Fraction(1 if is_unit_right and value == truth.isoformat() else -1)
    if value is None or isinstance(value, str) or unit_of(answer.unit) != unit:
        return Fraction(-1)
    # repr gives the decimal number that was sent: 12.4 means 62/5.
    return closeness(Fraction(repr(value)), truth)
