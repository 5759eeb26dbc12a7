"""Reading a store's policies: a section's subject, the base it states, what each value of a condition does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

_MONEY = r"(?:[A-Z]{1,3}\$|[^\w\s.,;:]|[A-Z]{3} )\d[\d,]*(?:\.\d\d)?"
"""An amount in any currency: $8.35, €1,200, CZK 90."""
_AMOUNT = rf"(?:{_MONEY}|\d+(?:\.\d+)? (?:days?|weeks?|hours?|percent(?:age points?)?|points?)\b)"
_ANY_AMOUNT = re.compile(_AMOUNT)
_EFFECT = re.compile(
    rf"(?P<more>(?:add|plus) (?P<a>{_AMOUNT})|(?P<b>{_AMOUNT}) more)"
    rf"|(?P<less>(?:take off|minus) (?P<c>{_AMOUNT})|(?P<d>{_AMOUNT}) less)"
    rf"|(?P<instead>(?P<e>{_AMOUNT}) instead of the base|instead of the base (?P<f>{_AMOUNT}))"
    r"|(?P<same>no change|the base stays as it is|nothing changes)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z\d]|[^\w\s])")
_ENTRY = re.compile(r"; |\.(?: |$)")
_TITLES = (
    re.compile(r"How the (?P<label>.+) changes the (?P<topic>.+)"),
    re.compile(r"The (?P<topic>.+) in general"),
    re.compile(r"Our (?P<topic>.+)"),
    re.compile(r"(?P<topic>.+?): the base"),
    re.compile(r"(?P<topic>.+?)(?:: | and | by )(?P<label>.+)"),
    re.compile(r"(?P<topic>.+)"),
)
_LABELS = re.compile(r"(?:changes with|what else counts is|How) the (.+?)(?:: look|, each| may change)")
_BANDS = (
    (re.compile(rf"from ({_MONEY}) to below ({_MONEY})"), (0, 1)),
    (re.compile(rf"of ({_MONEY}) or more"), (0, None)),
    (re.compile(rf"below ({_MONEY})"), (None, 0)),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one value of a condition does."""

    value: str
    """As the policy words it; empty for a range of order amounts."""
    band: tuple[int, int | None] | None
    """Order amounts from the first up to below the second, in units of the currency."""
    amount: Fraction
    """Added (negative: taken off), or put in the base's place."""
    is_replacement: bool


def subject(title: str) -> tuple[str, str]:
    """Return a section's topic in lower case, and the condition it is about; "" for none."""
    for pattern in _TITLES:
        match = pattern.fullmatch(title)
        if match:
            return match["topic"].casefold(), match.groupdict().get("label") or ""
    return title.casefold(), ""


def base_figure(text: str) -> tuple[Fraction, str]:
    """Return the base that a section states, and its unit; raises ``ValueError`` where it states none."""
    stated = _ANY_AMOUNT.findall(_SENTENCE.split(text)[0])
    if not stated:
        raise ValueError(f"no figure in {text!r}")
    amount = stated[-1]
    if re.fullmatch(_MONEY, amount):
        return _number(amount), currency_in(amount)
    unit = amount.split(" ", 1)[1]
    return _number(amount), unit if unit == "percent" else f"{unit.removesuffix('s')}s"


def currency_in(text: str) -> str:
    """Return the code, or a sign of its own, of the first amount of money in a text; empty if there is none.

    >>> currency_in("It costs CZK 1,200."), currency_in("$5"), currency_in("20 days")
    ('CZK', 'USD', '')
    """
    amount = re.search(_MONEY, text)
    sign = re.split(r"\d", amount[0], maxsplit=1)[0].strip() if amount else ""
    return "USD" if sign == "$" else sign


def labels(text: str) -> list[str]:
    """Return the conditions that a base section names."""
    match = _LABELS.search(text)
    return re.split(r", the | and the ", match[1]) if match else []


def outcomes(text: str) -> list[Outcome]:
    """Return what the values of a condition do, from the text of its section."""
    _, _, body = text.partition(". ")
    read: list[tuple[str, re.Match[str]]] = []
    for entry in filter(None, _ENTRY.split(body)):
        match = _EFFECT.search(entry)
        if match:
            read.append((f"{entry[: match.start()]} {entry[match.end() :]}".strip(" :"), match))
    values = _differing([where for where, _ in read])
    return [_outcome(where, value, match) for (where, match), value in zip(read, values, strict=True)]


def _outcome(where: str, value: str, match: re.Match[str]) -> Outcome:
    stated = next((found for name in "abcdef" if (found := match[name])), None)
    amount = _number(stated) if stated else Fraction(0)
    if match["less"]:
        amount = -amount
    for pattern, (least, below) in _BANDS:
        band = pattern.search(where)
        if band:
            ends = [int(_number(end)) for end in band.groups()]
            low = 0 if least is None else ends[least]
            return Outcome("", (low, None if below is None else ends[below]), amount, bool(match["instead"]))
    return Outcome(value, None, amount, bool(match["instead"]))


def _differing(phrases: Sequence[str]) -> list[str]:
    """Return the phrases without the words that all of them begin and end with."""
    split = [phrase.split() for phrase in phrases]
    shortest = min(map(len, split), default=0)
    first = next((at for at in range(shortest) if len({words[at].casefold() for words in split}) > 1), shortest)
    ends = range(1, shortest - first)
    last = next((at for at in ends if len({words[-at].casefold() for words in split}) > 1), max(1, shortest - first))
    return [" ".join(words[first : len(words) - last + 1]) for words in split]


def _number(text: str) -> Fraction:
    match = _NUMBER.search(text.replace(",", ""))
    return Fraction(match[0]) if match else Fraction(0)
