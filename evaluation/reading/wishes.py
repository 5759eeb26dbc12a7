"""What a customer's words about one kind of product mean: values, bounds, what must stay, what matters most."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ecom_rlve.evaluation.reading import language
from ecom_rlve.evaluation.reading.item_notes import UNITS, Card

FILTERS: Mapping[str, str] = {
    "price": "price_max",
    "rating": "rating_min",
    "ship_days": "ship_days_max",
    "weight": "weight_max",
    "length": "length_max",
    "wattage": "wattage_min",
    "screen_size": "screen_size_min",
    "capacity": "capacity_min",
    "battery_life": "battery_life_min",
}
"""The filter that states a shopper's bound on each number; its ending tells the direction."""

DIMENSIONS: Mapping[str, str] = {"price": "price", "rating": "rating", "delivery": "ship_days", "brand": "brand"}
"""What may matter most, by the word that names it."""

_DAYS = re.compile(r"(\d+) days?\b")
_STARS = re.compile(r"(?<![\d.$])([0-5](?:\.\d)?)(?![\d.]* ?(?:\d|to\b|mm\b|years?\b|w\b|kg\b|l\b|g\b|ml\b|cm\b|h\b))")
_NOT_STARS = re.compile(
    r"\$[\d.,]+|\bto \d+|\d+ to \d+|\d+(?:\.\d+)?[- ]?(?:days?|hours?|watts?|litres?|kilos?|grams?)"
)
_NAMED = r"[A-Z][\w&'’-]*(?: [A-Z][\w&'’-]*){0,2}"
_NAME = rf"({_NAMED}(?: or {_NAMED})?)"
_MORE = r"(?: (?!and\b|or\b|as\b|in\b|with\b|the\b)[\w./-]+){0,2}?"
_VALUE = rf"((?!the\b)[a-z0-9][\w./-]*{_MORE}(?: or [\w./-]+{_MORE})?)"
_END = r"(?=[,.;:!?)\n]| and | if | please|$)"
_SAID: Mapping[str, tuple[re.Pattern[str], ...]] = {
    name: tuple(
        re.compile(pattern.replace("%s", _NAME if name in ("brand", "model") else _VALUE)) for pattern in patterns
    )
    for name, patterns in {
        "brand": (r"(?:[Ff]rom|\bby|[Bb]rand) %s",),
        "model": (r"(?:[Ff]rom|[Bb]e|[Ii]n|[Oo]f) the %s (?:line|\w*o\w+)", r"[Mm]odel %s"),
        "color": (rf"colou?r %s{_END}",),
        "material": (rf"made (?:of|from) %s{_END}", r"(?:with|have) %s as the mat", rf"material %s{_END}"),
        "style": (r"in %s style", rf"style %s{_END}"),
        "pattern": (r"the %s pattern", r"(?:with|have) %s as the pat", rf"pattern %s{_END}"),
        "connector_type": (r"(?:with|have) %s as the con", rf"connector %s{_END}", rf"come with %s{_END}"),
        "item_form": (r"in %s form", rf"form %s{_END}"),
        "finish_type": (rf"finished in %s{_END}", r"(?:with|have) %s as the fin", rf"finish %s{_END}"),
        "skin_type": (rf"skin type %s{_END}",),
        "age_range": (rf"age range %s{_END}",),
        "scent": (r"(?:with|have) %s as the sc", rf"scent %s{_END}"),
        "flavor": (r"in %s flav", r"(?:with|have) %s as the fl", rf"flavou?r %s{_END}"),
        "size": (rf"size %s{_END}",),
    }.items()
}
"""How a sentence says what each attribute should be; the shop may still have to say how it spells the value."""
_MOST_VALUES = 2
KEEPING = ("keep", "same", "keeping")
"""Words before what must stay as it was."""
_LOOK_BACK = 4


@dataclass(slots=True)
class Wishes:
    """What has been said so far, in the shop's terms."""

    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Accepted values by attribute."""
    bounds: dict[str, float] = field(default_factory=dict)
    """Bounds by attribute, in the units of product cards."""
    kept: dict[str, None] = field(default_factory=dict)
    """Attributes that must stay as they were, in the order of the text."""
    priority: str | None = None
    """The attribute that matters most."""

    @property
    def attributes(self) -> set[str]:
        """What some wish is about."""
        return self.words.keys() | self.bounds.keys()

    def is_met(self, card: Card, name: str) -> bool | None:
        """Tell whether a card meets the wish about an attribute; None where the card does not show it."""
        if name not in card:
            return False if name == "price" else None
        if name in self.words:
            return card[name] in self.words[name]
        is_most = FILTERS[name].endswith("max")
        return bool(card[name] <= self.bounds[name] if is_most else card[name] >= self.bounds[name])


def read_wishes(text: str, values: Mapping[str, Iterable[str]], numbers: Iterable[str]) -> Wishes:
    """Return the wishes in a text; ``values`` and ``numbers`` are what products of the kind are known to have."""
    wishes = Wishes(bounds=_bounds(text, set(numbers)), priority=_priority(text))
    tokens = language.words(text)
    taken: dict[int, str] = {}
    found = [
        (place[1], -len(value), place[0], len(language.words(value)), name, value)
        for name, known in values.items()
        for value in known
        if (place := language.said_at(value, text)) is not None
    ]
    said: list[tuple[int, int, str]] = []
    for _, _, start, length, name, value in sorted(found):
        places = range(start, start + length)
        if any(at in taken for at in places) or len(wishes.words.get(name, ())) == _MOST_VALUES:
            continue
        taken.update(dict.fromkeys(places, name))
        wishes.words[name] = (*wishes.words.get(name, ()), value)
        said.append((start, length, name))
    edge = 0
    for start, length, name in sorted(said):
        before = tokens[max(edge, start - _LOOK_BACK) : start]
        if any(language.is_slip(token, word) for token in before for word in KEEPING):
            wishes.kept[name] = None
        edge = start + length
    return wishes


def unknown_values(text: str, known: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Return what is said of an attribute in so many words, and is like no value that is known of it."""
    strange: dict[str, list[str]] = {}
    for name, patterns in _SAID.items():
        for match in (found for pattern in patterns for found in pattern.findall(text)):
            for part in (said.strip(" .-/") for said in match.split(" or ")):
                if not any(language.is_said(value, part) for value in known.get(name, ())):
                    strange.setdefault(name, []).append(part)
    return strange


def values_of(cards: Iterable[dict[str, Any]]) -> tuple[dict[str, list[str]], set[str]]:
    """Return the words that cards show, by attribute in name order, and the names of the numbers they show."""
    words: dict[str, set[str]] = {}
    numbers: set[str] = set()
    for card in cards:
        for name, value in card.items():
            if name in ("product_id", "title", "category", "in_stock"):
                continue
            if isinstance(value, str):
                words.setdefault(name, set()).add(value)
            elif name in FILTERS:
                numbers.add(name)
    return {name: sorted(words[name]) for name in sorted(words)}, numbers


def _bounds(text: str, numbers: set[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    if prices := language.prices(text):
        found["price"] = prices[-1]
    if days := _DAYS.findall(text):
        found["ship_days"] = int(days[-1])
    for number, unit in language.measures_with_units(text):
        names = [name for name, of in UNITS.items() if of == unit and (name in numbers or not numbers)]
        if len(names) > 1:
            names = [name for name in names if ("screen" in text) == (name == "screen_size")]
        if names:
            found[names[0]] = number
    if stars := _STARS.findall(_NOT_STARS.sub(" ", text.replace("out of 5", "stars"))):
        found["rating"] = float(stars[-1])
    return found


def _priority(text: str) -> str | None:
    """Return what matters most: named in a sentence that has no number but says "most", "priority" or "look at"."""
    for sentence in reversed(language.sentences(text)):
        tokens = language.words(sentence)
        says_most = any(
            token == "most" and tokens[at - 1 : at] not in (["at"], ["not"]) for at, token in enumerate(tokens)
        )
        if not (says_most or language.is_said("look at", sentence) or language.is_said("priority", sentence)):
            continue
        named = [word for word in DIMENSIONS if language.is_said(word, sentence)]
        if named and not re.search(r"\d", sentence):
            return DIMENSIONS[named[-1]]
    return None
