"""Every phrase of a fact is read back, by the frames alone, to the kind, operator and value that it was made from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.envs.language.acts import Fact, Mention
from ecom_rlve.envs.language.frames import FORMS, Agreement, Bank, Frame, Part, Place, Pool, facts_in_bank
from ecom_rlve.envs.language.persona import PERSONAS
from ecom_rlve.envs.language.phrases import LABELS, frames_of, label_of
from ecom_rlve.envs.language.speaker import Speaker
from ecom_rlve.envs.language.spelling import american, with_capitals
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.streams import stream

Key = tuple[str, str]
Drawn = Mapping[str, Mapping[Key, tuple[Fact, ...]]]
Value = Any
PHRASES = tuple(form for form in FORMS if form != "bound")
LAMP = Mention("desk lamp", "desk lamps")
LAMPS = Mention("desk lamp", "desk lamps", is_plural=True)
IT = Mention("desk lamp", "desk lamps", pronoun="it")
EACH = 3
"""Facts with which each frame is tried."""
ITEM = r"(?:[Tt]he desk lamps?|[Ii]t|[Tt]hat)"
NUMBER = r"\d+(?:\.\d+)?"
SCALES = {"kg": 1000, "kilo": 1000, "kilos": 1000, "l": 1000, "litre": 1000, "litres": 1000}
UNITS = {name: attribute.unit for name, attribute in ATTRIBUTES.items() if attribute.unit}
UNIT_WORDS = {"W": "W|watts?", "h": "h|hours?", "g": "g|grams?|kg|kilos?", "ml": "ml|l|litres?", "cm": "cm"}
MONEY = ("price", "budget", "order_total", "status_order_total", "price_paid", "order_amount")
DAYS = ("order_date", "status_order_date")
# Kinds whose statements a person cannot mistake, though they may be the same, with the reason.
ALLOWED: dict[frozenset[str], str] = {
    frozenset(("items_ordered", "other_items")): "both say what was in the order; the second leaves out what was named",
}


class Reader(NamedTuple):
    """A frame read backwards."""

    key: Key
    form: str
    text: str
    pattern: re.Pattern[str]
    literal: str
    """Its longest text without a place, which every phrase of it holds; empty if it has choices or agreement only."""


def _pattern(parts: Sequence[Part], labels: Sequence[str]) -> str:
    return "".join(_part(part, labels) for part in parts)


def _part(part: Part, labels: Sequence[str]) -> str:
    if isinstance(part, Place):
        spelt = (spelling for label in labels for spelling in (label, american(label)))
        fixed = {"item": ITEM, "label": f"(?:{'|'.join(map(re.escape, spelt))})"}
        return fixed.get(part.name) or f"(?P<{part.name}>.+?)"
    if isinstance(part, Agreement):
        return f"(?:{re.escape(part.one)}|{re.escape(part.many)})"
    if isinstance(part, tuple):
        return f"(?:{'|'.join(map(re.escape, part))})"
    return re.escape(part)


def _reader(key: Key, form: str, made: Frame) -> Iterator[Reader]:
    # What is to go with something is said with the label of any attribute.
    labels = (LABELS[key[0]],) if key[0] in LABELS else tuple(LABELS.values())
    for parts in dict.fromkeys((made.parts, made.american_parts)):
        literal = max((part for part in parts if isinstance(part, str)), key=len, default="")
        yield Reader(key, form, made.text, re.compile(_pattern(parts, labels)), literal)


READERS = {
    form: [
        each
        for key, forms in facts_in_bank().items()
        for made in forms.get(form, ())
        for each in _reader(key, form, made)
    ]
    for form in FORMS
}


class Meanings:
    """Reads values: words that the catalog or a customer can hold, and numbers."""

    def __init__(self, shop: Shop, drawn: Drawn) -> None:
        self._words: dict[str, dict[str, str]] = {}
        for by_key in drawn.values():
            for (kind, _), facts in by_key.items():
                known = self._words.setdefault(kind, {})
                for fact in facts:
                    if isinstance(fact.constraint.value, str):
                        known[fact.spelled or with_capitals(fact.constraint.value)] = fact.constraint.value
                    for word in fact.kind.values if fact.kind else ():
                        known[with_capitals(word)] = word
        for kind in {key[0] for key in facts_in_bank()} & {"brand", *ATTRIBUTES}:
            words = shop.catalog.column(kind).vocabulary or ()
            self._words.setdefault(kind, {}).update({with_capitals(word): word for word in words})

    def read(self, phrase: str, form: str) -> set[tuple[str, str, Value, str]]:
        """Return every kind, operator and value that a phrase can have, each with the frame that says so."""
        found = set()
        for reader in READERS[form]:
            if reader.literal in phrase and (match := reader.pattern.fullmatch(phrase)):
                found |= {(*reader.key, value, reader.text) for value in self._values(reader.key, match.groupdict())}
        return found

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

    def bounded(self, key: Key, text: str) -> Iterator[Value]:
        """Yield the values that a value with its direction can mean."""
        yield from self._values(key, {"bound": text})

    def _bounded(self, kind: str, op: str, text: str) -> Iterator[Value]:
        for reader in READERS["bound"]:
            if reader.key[1] == op and (match := reader.pattern.fullmatch(text)):
                yield from self._values((kind, op), match.groupdict())

    def _said(self, kind: str, text: str) -> Iterator[Value]:
        known = self._words.get(kind, {})
        options = text.split(" or ")
        if text in known:
            yield known[text]
        elif len(options) > 1 and all(option in known for option in options):
            yield tuple(known[option] for option in options)
        yield from self._numbers(kind, text)

    def _numbers(self, kind: str, text: str) -> Iterator[Value]:
        if kind in MONEY:
            yield from (float(Decimal(found[1]) * 100) for found in [re.fullmatch(rf"\$({NUMBER})", text)] if found)
        elif kind in DAYS:
            yield from (found[0] for found in [re.fullmatch(r"\d+ [A-Z][a-z]+", text)] if found)
        elif kind == "units_bought":
            yield from (found[0] for found in [re.fullmatch(r"\d+", text)] if found)
        elif kind == "rating":
            yield from (float(f[1]) for f in [re.fullmatch(rf"({NUMBER})(?: stars| out of 5)?", text)] if f)
        elif kind == "ship_days":
            yield from (float(f[1]) for f in [re.fullmatch(rf"({NUMBER}) days?", text)] if f)
        elif kind in UNITS:
            found = re.fullmatch(rf"({NUMBER}) ({UNIT_WORDS[UNITS[kind]]})", text)
            if found:
                yield float(Decimal(found[1]) * SCALES.get(found[2], 1))


def _value_of(fact: Fact) -> Value:
    """Return the value as it is read: an amount that an environment spells is read as one."""
    value = fact.constraint.value
    if isinstance(value, str | tuple):
        return value
    name = (fact.kind.phrased_as or fact.kind.name) if fact.kind else fact.constraint.attribute
    if name in MONEY and fact.spelled:
        return float(Decimal(fact.spelled.removeprefix("$")) * 100)
    return fact.spelled or float(value)


@pytest.fixture(scope="module")
def meanings(wide_shop: Shop, drawn: Drawn) -> Meanings:
    return Meanings(wide_shop, drawn)


def facts_of(drawn: Drawn) -> dict[Key, list[Fact]]:
    """Return different facts of every kind and operator that the bank phrases, of all environments."""
    found: dict[Key, dict[Any, Fact]] = {}
    for by_key in drawn.values():
        for key, facts in by_key.items():
            if key in facts_in_bank():
                found.setdefault(key, {}).update({_value_of(fact): fact for fact in facts})
    return {key: list(facts.values()) for key, facts in found.items()}


def forms_of(fact: Fact) -> tuple[str, ...]:
    """Return the forms in which a fact is said; how things are is only told in statements."""
    return ("clause",) if fact.kind and fact.kind.is_circumstance else PHRASES


def phrases(drawn: Drawn, each: int = EACH) -> Iterator[tuple[Fact, Key, str, Frame, str]]:
    """Yield facts in every frame of every form of theirs, each frame with some facts."""
    rng = stream(31, "round trip")
    for key, facts in facts_of(drawn).items():
        for form in forms_of(facts[0]):
            for made in facts_in_bank().get(key, {}).get(form, ()):
                bank = Bank({}, {key: {form: Pool((made,))}})
                fitting = [fact for fact in facts if frames_of(fact, form, bank)]
                for number, at in enumerate(rng.permutation(len(fitting))[:each].tolist()):
                    speaker = Speaker(PERSONAS[0], rng, bank, is_american=number % 2 == 1)
                    mention = (LAMP, LAMPS, IT)[number % 3]
                    yield fitting[at], key, form, made, speaker.phrased(fitting[at], form, mention)


def beside(drawn: Drawn) -> dict[str, set[str]]:
    """Return, for each kind, the kinds that a customer of the same environment can have in mind."""
    found: dict[str, set[str]] = {}
    for by_key in drawn.values():
        kinds = {kind for kind, _ in by_key}
        for kind in kinds:
            found.setdefault(kind, set()).update(kinds)
    return found


def check(drawn: Drawn, meanings: Meanings, each: int) -> int:
    """Read phrases back, and return how many; every fault is told with its frame."""
    together, faults, count = beside(drawn), set[str](), 0
    said = {kind: forms_of(facts[0]) for (kind, _), facts in facts_of(drawn).items()}
    for fact, key, form, made, phrase in phrases(drawn, each):
        count += 1
        meant, read = (*key, _value_of(fact)), meanings.read(phrase, form)
        if meant not in {found[:3] for found in read}:
            faults.add(f"{key} {form} {made.text!r}: {phrase!r} does not tell {fact.constraint.value!r}")
        for kind, op, value, text in read:
            is_other = (kind, op, value) != meant and kind in together[key[0]] and form in said[kind]
            if is_other and frozenset((kind, key[0])) not in ALLOWED:
                faults.add(f"{key} {form} {made.text!r}: {phrase!r} is also {kind} {op} {value!r} by {text!r}")
    assert sorted(faults) == []
    return count


def test_every_frame_is_read_back_to_what_it_was_made_from(drawn: Drawn, meanings: Meanings) -> None:
    assert check(drawn, meanings, EACH) >= 5000


@pytest.mark.slow
def test_every_frame_is_read_back_with_many_facts(drawn: Drawn, meanings: Meanings) -> None:
    assert check(drawn, meanings, 30) >= 20_000


def test_labels_with_values_are_read_back(drawn: Drawn, meanings: Meanings) -> None:
    rng = stream(32, "labels")
    count = 0
    for key, facts in facts_of(drawn).items():
        for fact in facts[:20]:
            for is_american in (False, True):
                speaker = Speaker(PERSONAS[0], rng, is_american=is_american)
                label, bounded = speaker.label(fact), speaker.bounded(fact)
                assert _value_of(fact) in set(meanings.bounded(key, bounded)), (key, label, bounded)
                count += 1
    assert count >= 800


def test_no_two_kinds_of_an_environment_have_one_label(drawn: Drawn) -> None:
    assert len(drawn) >= 7
    for env_id, by_key in drawn.items():
        labels = {kind: label_of(facts[0]) for (kind, _), facts in by_key.items()}
        assert len(set(labels.values())) == len(labels), (env_id, labels)


def test_the_reader_tells_kinds_operators_and_values_apart(meanings: Meanings) -> None:
    assert {found[:3] for found in meanings.read("that costs no more than $24.99", "noun")} == {
        ("price", "at_most", 2499.0)
    }
    assert meanings.read("made of kindness", "noun") == set()
    assert ("price", "at_most", 2499.0) in {found[:3] for found in meanings.read("under $25", "noun")}
