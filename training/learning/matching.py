"""Finding in a customer's text what tools have shown: things by name, days, amounts of money.

Names are found although typing noise has touched a letter of them or run words together; days and amounts are never
noised, and are found as they are.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz import fuzz

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_MONTHS = "|".join(MONTHS)
_DAY = re.compile(rf"\b(\d{{1,2}}) ({_MONTHS})\b")
_MONTH = re.compile(rf"(?<!\d )\b({_MONTHS})\b")
_MONEY = re.compile(r"\$(\d+)(?:\.(\d\d))?")
_WORD = re.compile(r"[a-z][a-z']*")
LIKE = 86.0
"""From this likeness on (0 to 100) a name counts as found: one edit in a name of eight letters."""


@lru_cache(maxsize=1 << 14)
def words_in(text: str) -> tuple[str, ...]:
    """Return the words of a text in small letters, each once."""
    return tuple(dict.fromkeys(_WORD.findall(text.casefold())))


@lru_cache(maxsize=1 << 14)
def days_in(text: str) -> frozenset[tuple[int, int]]:
    """Return the days that a text names, as month and day.

    >>> days_in("placed on 12 August")
    frozenset({(8, 12)})
    """
    return frozenset((MONTHS.index(month) + 1, int(day)) for day, month in _DAY.findall(text))


@lru_cache(maxsize=1 << 14)
def months_in(text: str) -> frozenset[int]:
    """Return the months that a text names without a day, 1 to 12."""
    return frozenset(MONTHS.index(month) + 1 for month in _MONTH.findall(text))


@lru_cache(maxsize=1 << 14)
def money_in(text: str) -> tuple[int, ...]:
    """Return the amounts of money in a text in integer cents, in their order.

    >>> money_in("$29.97 in all, $5 of it back")
    (2997, 500)
    """
    return tuple(int(dollars) * 100 + int(cents or 0) for dollars, cents in _MONEY.findall(text))


def day_of(iso: str) -> tuple[int, int]:
    """Return month and day of an ISO 8601 date."""
    day = date.fromisoformat(iso)
    return day.month, day.day


@lru_cache(maxsize=1 << 12)
def singular(name: str) -> str:
    """Return what one thing of a category is called.

    >>> singular("scarves"), singular("desk lamps"), singular("dress shirts"), singular("batteries")
    ('scarf', 'desk lamp', 'dress shirt', 'battery')
    """
    for ending, one in (("ves", "f"), ("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x")):
        if name.endswith(ending):
            return name.removesuffix(ending) + one
    return name.removesuffix("s") if not name.endswith("ss") else name


@lru_cache(maxsize=1 << 16)
def likeness(name: str, text: str) -> float:
    """Return how much a stretch of a text is like a name, 0 to 100; a stretch begins where a word does."""
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
        return 100.0
    if len(name) < 5:
        return 0.0
    found = fuzz.partial_ratio_alignment(name, text)
    if found is None or found.score < LIKE:
        return 0.0
    return 0.0 if found.dest_end - found.dest_start < len(name) - 1 else found.score


class Mention(NamedTuple):
    """Where a text speaks of a category."""

    name: str
    start: int
    end: int


@lru_cache(maxsize=1 << 14)
def mentions_in(text: str, names: tuple[str, ...]) -> tuple[Mention, ...]:
    """Return where a text speaks of categories, in its order.

    A longer name goes first, and what it covers counts for no shorter one: who speaks of a dress shirt speaks of no
    dress.
    """
    left = text.casefold()
    found: list[Mention] = []
    forms = {(form, each) for each in names for form in forms_of(each)}
    for form, name in sorted(forms, key=_longest_first):
        while span := _stretch(form, left):
            found.append(Mention(name, *span))
            left = f"{left[: span[0]]}{'#' * (span[1] - span[0])}{left[span[1] :]}"
    return tuple(sorted(found, key=lambda each: each.start))


def forms_of(name: str) -> set[str]:
    """Return what things of a category may be called."""
    parts = (name, *name.split(" and "))
    # Of a hoodie there are hoodies, of a battery batteries.
    return {
        form for part in parts for form in (part, singular(part), part.removesuffix("s") if "ies" in part else part)
    }


def _longest_first(form_and_name: tuple[str, str]) -> tuple[int, str, str]:
    return -len(form_and_name[0]), *form_and_name


def _stretch(name: str, text: str) -> tuple[int, int] | None:
    """Return the stretch of a text that is like a name."""
    if exact := re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
        return exact.span()
    if likeness(name, text) < LIKE:
        return None
    found = fuzz.partial_ratio_alignment(name, text)
    return (found.dest_start, found.dest_end) if found else None


def names_in(text: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the categories that a text speaks of, each once, in the order of their first mention."""
    return tuple(dict.fromkeys(each.name for each in mentions_in(text, names)))
