"""Cards of products against what was stated: does one meet it, which filters say the same, and how many are wanted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ecom_rlve.evaluation.expert.cards import NUMBER_FILTERS
from ecom_rlve.training.learning.matching import Mention, mentions_in

Card = dict[str, Any]
WORDS = (
    "brand", "color", "size", "material", "style", "pattern", "connector_type", "item_form", "finish_type",
    "skin_type", "age_range", "scent", "flavor", "model",
)  # fmt: skip
"""Attributes whose values are words."""
_CENTS = 100


class Stated(NamedTuple):
    """What was stated about a thing."""

    attribute: str
    op: str
    value: Any


def meets(card: Card, stated: Stated) -> bool | None:
    """Tell whether a card meets what was stated; None where it does not show the attribute."""
    shown, value = card.get(stated.attribute), stated.value
    if shown is None:
        return None
    if isinstance(shown, str):
        words = value if isinstance(value, tuple) else (value,)
        return (shown in words) is (stated.op != "none_of")
    number = round(shown * _CENTS) if stated.attribute == "price" else float(shown)
    if isinstance(value, tuple):
        return bool(value[0] <= number <= value[1])
    if isinstance(value, str):
        return None
    checks = {"at_most": number <= value, "at_least": number >= value}
    return bool(checks.get(stated.op, abs(number - value) < 1e-6))


class Fit(NamedTuple):
    """How a card agrees with what was stated."""

    met: int
    broken: int
    unknown: int


def fit_of(card: Card, facts: Iterable[Stated]) -> Fit:
    """Return how many of the facts a card meets, does not meet, and does not show."""
    found = [meets(card, fact) for fact in facts if fact.attribute != "priority"]
    return Fit(found.count(True), found.count(False), found.count(None))


def filters_of(facts: Iterable[Stated], names: Iterable[str] | None = None) -> dict[str, Any]:
    """Return the filters that say the same as facts, of some attributes or of all."""
    wanted = None if names is None else set(names)
    filters: dict[str, Any] = {}
    for name, op, value in facts:
        if wanted is not None and name not in wanted:
            continue
        if name in WORDS and op == "eq" and isinstance(value, str):
            filters[name] = value
        elif name == "price" or name in NUMBER_FILTERS:
            filters |= _bounds(name, op, value)
    return filters


def _bounds(name: str, op: str, value: Any) -> Mapping[str, float]:
    low, high = value if isinstance(value, tuple) else (value, value)
    least = None if op == "at_most" else low
    most = None if op == "at_least" else high
    if name == "price":
        ends = {"price_min": least, "price_max": most}
        return {each: end / _CENTS for each, end in ends.items() if end is not None}
    filter_name = NUMBER_FILTERS[name]
    end = least if filter_name.endswith("_min") else most
    return {} if end is None else {filter_name: int(end) if name == "ship_days" else end}


def words_of(called: str, facts: Iterable[Stated]) -> str:
    """Return what a thing is called and what was stated about it as words to search for."""
    return " ".join([called, *(str(value) for _, op, value in facts if op == "eq" and isinstance(value, str))])


_COUNTS = {"a single": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_UNIT = r"kg|kilos?|g|grams?|cm|ml|l|litres?|liters?|W|watts?|h|hours?|days?|years?|stars?"
_COUNT = re.compile(
    rf"(?<![\w.$/-])(a single|one|two|three|four|five|six|seven|eight|[1-9])(?![\w$/-]|\.\d| (?:{_UNIT})\b)",
    re.IGNORECASE,
)


def counts_in(text: str) -> list[tuple[int, int]]:
    """Return the small numbers in a text and where each stands."""
    found = ((match[1], match.start()) for match in _COUNT.finditer(text.casefold()))
    return [(_COUNTS.get(word) or int(word), start) for word, start in found]


_NEAR = 48
"""Letters between a number and a thing up to which it counts as how many are wanted."""


def quantity_said(messages: Sequence[str], things: tuple[str, ...], thing: str) -> int:
    """Return how many of a thing were said to be wanted last; 0 where nothing was said. ``things`` are all that are."""
    found = 0
    for message in messages:
        counts = counts_in(message)
        for mention in mentions_in(message, things):
            near = [n for n, at in counts if 0 <= mention.start - at <= _NEAR and not _parted(message, at, mention)]
            if mention.name == thing and near:
                found = near[-1]
    return found


def _parted(message: str, start: int, mention: Mention) -> bool:
    """Tell whether a sentence ends between a number and what may be counted by it."""
    return ". " in message[start : mention.start]
