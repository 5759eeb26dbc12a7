"""Reads facts out of text, by the frames with which customers say them: the bank backwards.

Each frame becomes a pattern, whose places are the value, the item and the label. A text holds a fact where a pattern
fits and the value is one that its kind can have: a number with its unit, an amount, a day, or a word that the reader
was given. Nothing here knows a goal: what comes out is what the text says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any, NamedTuple

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.envs.language.frames import FORMS, Agreement, Frame, Part, Place, facts_in_bank
from ecom_rlve.envs.language.phrases import LABELS
from ecom_rlve.envs.language.spelling import american

Key = tuple[str, str]
"""A kind of fact as the bank names it, and an operator."""
Value = Any
"""A word, words of an exclusion or of "A or B", a number (money in cents), the ends of a range, or a day as it is
spelled."""

_NUMBER = r"\d+(?:\.\d+)?"
_SCALES = {"kg": 1000, "kilo": 1000, "kilos": 1000, "l": 1000, "litre": 1000, "litres": 1000}
_SCALES |= {american(each): scale for each, scale in _SCALES.items()}
_UNITS = {name: attribute.unit for name, attribute in ATTRIBUTES.items() if attribute.unit}
_UNIT_WORDS = {
    "W": "W|watts?", "h": "h|hours?", "g": "g|grams?|kg|kilos?", "ml": "ml|l|litres?|liters?", "cm": "cm",
}  # fmt: skip
MONEY = frozenset(("price", "budget", "order_total", "status_order_total", "price_paid", "order_amount"))
"""Kinds whose values are amounts of money."""
_DAYS = frozenset(("order_date", "status_order_date"))
_DAY = r"\d+ [A-Z][a-z]+"
_WORD = r"\w(?:[\w'&/.+-]*\w)?"
_WORDS = rf"{_WORD}(?: (?!(?:and|but)\b){_WORD}){{0,3}}"
_UNIT = r"(?: (?:W|watts?|h|hours?|g|grams?|kg|kilos?|ml|l|litres?|liters?|cm|days?|stars?|out of 5))?"
_ITEM = r"(?:[Tt]he desk lamps?|[Ii]t|[Tt]hat)"
_ANY_ITEM = r"(?:(?:the|these|those|my|each|every|all)(?: [\w'-]+){1,4}?|it|them|they|that|this|those|these|one)"
_MOST_BEFORE = 4
"""Words before a noun among which values are looked for."""
_LEAST_LETTERS = 3
"""Letters of a frame without which it says too little to be looked for within a text."""


class Reading(NamedTuple):
    """A fact that was read."""

    kind: str
    op: str
    value: Value
    frame: str
    """Text of the frame that says so."""


class Found(NamedTuple):
    """A fact that was found in a text."""

    kind: str
    op: str
    value: Value
    start: int
    end: int
    """Where it stands."""


class _Pattern(NamedTuple):
    """A frame read backwards."""

    key: Key
    text: str
    whole: str
    """Fits a phrase made by the frame, with an item named as in :data:`_ITEM`."""
    within: str
    """Fits where a text holds such a phrase, about any item."""
    literal: str
    """The longest text without a place, which every phrase of it holds; empty if it has choices or agreement only."""
    folded: str
    """The same in small letters, to be looked for within a text; empty if it says too little for that."""


def _part(part: Part, labels: Sequence[str], places: Mapping[str, str]) -> str:
    if isinstance(part, Place):
        if part.name == "label":
            spelt = (spelling for label in labels for spelling in (label, american(label)))
            return f"(?:{'|'.join(map(re.escape, spelt))})"
        return places.get(part.name) or f"(?P<{part.name}>{places['']})"
    if isinstance(part, Agreement):
        return f"(?:{re.escape(part.one)}|{re.escape(part.many)})"
    if isinstance(part, tuple):
        return f"(?:{'|'.join(map(re.escape, part))})"
    return re.escape(part)


def _value_pattern(kind: str) -> str:
    """Return what a value of a kind looks like within a text."""
    if kind in MONEY:
        return rf"\${_NUMBER}(?: (?:and|to) \${_NUMBER})?"
    if kind in _DAYS:
        return _DAY
    if kind in _UNITS or kind in ("rating", "ship_days"):
        return rf"{_NUMBER}{_UNIT}(?: (?:and|to) {_NUMBER}{_UNIT})?"
    return _WORDS


def _bound_pattern(key: Key) -> str:
    """Return what a value with its direction looks like within a text."""
    value = _value_pattern(key[0])
    if key[1] in ("eq", "none_of"):
        return value if key[1] == "eq" else _either(("none_of", value))
    return _either((key[1], value))


@cache
def _either(op_and_value: tuple[str, str]) -> str:
    """Return a pattern for any of the frames of a direction, the longer ones first."""
    op, value = op_and_value
    single = rf"\$?{_NUMBER}{_UNIT}"
    places = {"value": value, "limit": value, "low": single, "high": single}
    texts = {"".join(_part(part, (), places) for part in made.parts) for made in facts_in_bank()["bound", op]["bound"]}
    return f"(?:{'|'.join(sorted(texts, key=lambda text: (-len(text), text)))})"


def _patterns(key: Key, made: Frame) -> Iterator[_Pattern]:
    # What is to go with something is said with the label of any attribute.
    labels = (LABELS[key[0]],) if key[0] in LABELS else tuple(LABELS.values())
    value = _value_pattern(key[0])
    within = {
        "item": _ANY_ITEM,
        "value": f"(?P<value>{value})",
        "low": rf"(?P<low>\$?{_NUMBER}{_UNIT})",
        "high": rf"(?P<high>\$?{_NUMBER}{_UNIT})",
        "limit": f"(?P<limit>{value})",
        "bound": f"(?P<bound>{_bound_pattern(key)})",
    }
    for parts in dict.fromkeys((made.parts, made.american_parts)):
        whole = "".join(_part(part, labels, {"item": _ITEM, "": ".+?"}) for part in parts)
        inside = "".join(_part(part, labels, within) for part in parts)
        literal = max((part for part in parts if isinstance(part, str)), key=len, default="")
        yield _Pattern(
            key,
            made.text,
            whole,
            rf"(?i:(?<![\w$-]){inside}(?![\w-]|\.\d))",
            literal,
            "" if len(literal.strip()) < _LEAST_LETTERS else literal.strip().casefold(),
        )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern: most of the thousands are never needed, so each is compiled when it is."""
    return re.compile(pattern)


@cache
def _by_form() -> Mapping[str, tuple[_Pattern, ...]]:
    return {
        form: tuple(
            each
            for key, forms in facts_in_bank().items()
            for made in forms.get(form, ())
            for each in _patterns(key, made)
        )
        for form in FORMS
    }


class Hit(NamedTuple):
    """A place in a text where a frame fits, whatever its value may mean."""

    key: Key
    places: tuple[tuple[str, str], ...]
    last: str
    """The place with which the phrase ends; empty if other words follow it."""
    start: int
    end: int


@lru_cache(maxsize=1 << 13)
def hits_in(text: str, labels: tuple[tuple[str, str], ...]) -> tuple[Hit, ...]:
    """Return where frames fit in a text; ``labels`` are what customers call kinds of facts in lists of them."""
    folded = text.casefold()
    found: list[Hit] = []
    for form in ("clause", "should", "noun"):
        for each in _by_form()[form]:
            if each.folded and each.folded in folded:
                found += (_hit(each.key, match) for match in _compiled(each.within).finditer(text))
    named = dict(labels)
    for key in facts_in_bank():
        label = named.get(key[0])
        if label and (label in folded or american(label) in folded):
            found += (_hit(key, match) for match in _tagged(key, label).finditer(text))
    return tuple(found)


def _hit(key: Key, match: re.Match[str]) -> Hit:
    places = {name: value for name, value in match.groupdict().items() if value is not None}
    last = next((name for name in ("value", "bound") if name in places and match.end(name) == match.end()), "")
    return Hit(key, tuple(places.items()), last, *match.span())


@cache
def _tagged(key: Key, label: str) -> re.Pattern[str]:
    """Return the pattern of a fact that is told by its label: "price up to $30", "colour black"."""
    spelt = "|".join(map(re.escape, dict.fromkeys((label, american(label)))))
    name = "bound" if key[1] != "none_of" else "only"
    return re.compile(rf"(?<!\w)(?:{spelt}) (?P<{name}>{_bound_pattern(key)})(?![\w-]|\.\d)", re.IGNORECASE)


class FactReader:
    """Reads the facts of phrases and texts."""

    def __init__(self, words: Mapping[str, Mapping[str, str]], labels: Mapping[str, str] | None = None) -> None:
        """``words`` are the words that facts can have as values: kind → spelling → word.

        ``labels`` are what customers call kinds of facts that no product has, by kind.
        """
        self._labels = {**LABELS, **(labels or {})}
        self._folded = {
            kind: {spelling.casefold(): word for spelling, word in known.items()} for kind, known in words.items()
        }

    def read(self, phrase: str, form: str) -> set[Reading]:
        """Return every kind, operator and value that a whole phrase can have."""
        found = set()
        for each in _by_form()[form]:
            if each.literal in phrase and (match := _compiled(each.whole).fullmatch(phrase)):
                values = self._values(each.key, match.groupdict())
                found |= {Reading(*each.key, value, each.text) for value in values}
        return found

    def bounded(self, key: Key, text: str) -> Iterator[Value]:
        """Yield the values that a value with its direction can mean ("at most 3 kg")."""
        yield from self._values(key, {"bound": text})

    def facts_in(self, text: str, kinds: Iterable[str], nouns: Iterable[str] = ()) -> list[Found]:
        """Return the facts of some kinds that a text states, in the order in which they stand in it.

        Where phrases about one kind overlap, and where one lies within another, only the longest says something.
        ``nouns`` are what things are called: words of a value right before one count too ("a black desk lamp").
        """
        wanted = frozenset(kinds)
        found = [
            each for hit in hits_in(text, tuple(sorted(self._labels.items()))) for each in self._found(hit, wanted)
        ]
        for noun in nouns:
            found += self._before(text, noun, wanted)
        return _longest(found)

    def _found(self, hit: Hit, wanted: frozenset[str]) -> list[Found]:
        if hit.key[0] not in wanted:
            return []
        places, end = dict(hit.places), hit.end
        while True:
            values = [Found(*hit.key, value, hit.start, end) for value in self._values(hit.key, places)]
            # Where nothing stands after a value, the words after it were taken for a part of it.
            if values or " " not in places.get(hit.last, ""):
                return values
            shorter = places[hit.last].rpartition(" ")[0]
            end -= len(places[hit.last]) - len(shorter)
            places[hit.last] = shorter

    def _before(self, text: str, noun: str, wanted: frozenset[str]) -> Iterator[Found]:
        if noun not in text.casefold():
            return
        kinds = [kind for kind in self._folded if kind in wanted and (kind, "eq") in facts_in_bank()]
        for match in re.finditer(rf"((?:[\w'&-]+ ){{1,{_MOST_BEFORE}}}){re.escape(noun)}", text, re.IGNORECASE):
            words = match[1].casefold().split()
            for first in range(len(words)):
                for last in range(first + 1, len(words) + 1):
                    phrase = " ".join(words[first:last])
                    start = match.start() + len(" ".join(words[:first])) + bool(first)
                    for kind in kinds:
                        if phrase in self._folded[kind]:
                            yield Found(kind, "eq", self._folded[kind][phrase], start, start + len(phrase))

    def _values(self, key: Key, places: Mapping[str, str]) -> Iterator[Value]:
        kind, op = key
        if "limit" in places:
            for value in self._numbers(kind, places["limit"]):
                yield value - 1
        elif "low" in places:
            # The unit may stand after the second number alone: "2 to 5 kg".
            unit = places["high"].partition(" ")[2]
            least = places["low"] if " " in places["low"] or not unit else f"{places['low']} {unit}"
            for low in self._numbers(kind, least):
                yield from ((low, high) for high in self._numbers(kind, places["high"]))
        elif "only" in places:
            yield from self._bounded(kind, op, places["only"])
        elif "bound" in places and op not in ("eq", "none_of"):
            yield from self._bounded(kind, op, places["bound"])
        elif op == "between":
            low, _, high = places["value"].partition(" and ")
            yield from self._values(key, {"low": low, "high": high})
        else:
            text = places.get("value") or places["bound"]
            if op == "none_of":
                yield from self._excluded(kind, text)
            else:
                yield from self._said(kind, text)

    def _excluded(self, kind: str, text: str) -> Iterator[Value]:
        """Yield the words that an exclusion can mean, also of a phrase that itself says that they are excluded."""
        for value in self._said(kind, text):
            yield value if isinstance(value, tuple) else (value,)
        yield from self._bounded(kind, "none_of", text)

    def _bounded(self, kind: str, op: str, text: str) -> Iterator[Value]:
        for each in _by_form()["bound"]:
            if each.key[1] == op and (match := _compiled(each.whole).fullmatch(text)):
                yield from self._values((kind, op), match.groupdict())

    def _said(self, kind: str, text: str) -> Iterator[Value]:
        known = self._folded.get(kind, {})
        options = text.casefold().split(" or ")
        if text.casefold() in known:
            yield known[text.casefold()]
        elif len(options) > 1 and all(option in known for option in options):
            yield tuple(known[option] for option in options)
        yield from self._numbers(kind, text)

    def _numbers(self, kind: str, text: str) -> Iterator[Value]:
        if kind in MONEY:
            yield from (float(Decimal(found[1]) * 100) for found in [re.fullmatch(rf"\$({_NUMBER})", text)] if found)
        elif kind in _DAYS:
            yield from (found[0] for found in [re.fullmatch(_DAY, text)] if found)
        elif kind == "units_bought":
            yield from (found[0] for found in [re.fullmatch(r"\d+", text)] if found)
        elif kind == "rating":
            yield from (float(f[1]) for f in [re.fullmatch(rf"({_NUMBER})(?: stars| out of 5)?", text)] if f)
        elif kind == "ship_days":
            yield from (float(f[1]) for f in [re.fullmatch(rf"({_NUMBER}) days?", text)] if f)
        elif kind in _UNITS:
            found = re.fullmatch(rf"({_NUMBER}) ({_UNIT_WORDS[_UNITS[kind]]})", text)
            if found:
                yield float(Decimal(found[1]) * _SCALES.get(found[2], 1))


def _longest(found: Iterable[Found]) -> list[Found]:
    kept: list[Found] = []
    # A direction says more than a value alone: "for $11.50 to $25.99" is no price of $11.50.
    for each in sorted(found, key=lambda one: (one.op == "eq", one.start - one.end, one.start, *map(str, one[:3]))):
        if not any(_hides(other, each) for other in kept):
            kept.append(each)
    return sorted(kept, key=lambda one: (one.start, one.end, one.kind))


def _hides(longer: Found, shorter: Found) -> bool:
    if longer.kind == shorter.kind:
        return longer.start < shorter.end and shorter.start < longer.end
    return longer.start <= shorter.start and shorter.end <= longer.end
