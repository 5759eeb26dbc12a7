"""Every phrase of a fact is read back, by the frames alone, to the kind, operator and value that it was made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import pytest

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.envs.language.acts import Fact, Mention
from ecom_rlve.envs.language.frames import FORMS, Bank, Frame, Pool, facts_in_bank
from ecom_rlve.envs.language.persona import PERSONAS
from ecom_rlve.envs.language.phrases import frames_of, label_of
from ecom_rlve.envs.language.speaker import Speaker
from ecom_rlve.envs.language.spelling import with_capitals
from ecom_rlve.envs.reading.facts import MONEY, FactReader
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
# Kinds whose statements a person cannot mistake, though they may be the same, with the reason.
ALLOWED: dict[frozenset[str], str] = {
    frozenset(("items_ordered", "other_items")): "both say what was in the order; the second leaves out what was named",
}


def words_of(shop: Shop, drawn: Drawn) -> dict[str, dict[str, str]]:
    """Return the words that the catalog or a customer can hold, by kind and spelling."""
    words: dict[str, dict[str, str]] = {}
    for by_key in drawn.values():
        for (kind, _), facts in by_key.items():
            known = words.setdefault(kind, {})
            for fact in facts:
                if isinstance(fact.constraint.value, str):
                    known[fact.spelled or with_capitals(fact.constraint.value)] = fact.constraint.value
                for word in fact.kind.values if fact.kind else ():
                    known[with_capitals(word)] = word
    for kind in {key[0] for key in facts_in_bank()} & {"brand", *ATTRIBUTES}:
        vocabulary = shop.catalog.column(kind).vocabulary or ()
        words.setdefault(kind, {}).update({with_capitals(word): word for word in vocabulary})
    return words


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
def meanings(wide_shop: Shop, drawn: Drawn) -> FactReader:
    return FactReader(words_of(wide_shop, drawn))


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


def check(drawn: Drawn, meanings: FactReader, each: int) -> int:
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


@pytest.mark.slow
def test_every_frame_is_read_back_to_what_it_was_made_from(drawn: Drawn, meanings: FactReader) -> None:
    assert check(drawn, meanings, EACH) >= 5000


@pytest.mark.slow
def test_every_frame_is_read_back_with_many_facts(drawn: Drawn, meanings: FactReader) -> None:
    assert check(drawn, meanings, 30) >= 20_000


def test_labels_with_values_are_read_back(drawn: Drawn, meanings: FactReader) -> None:
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


def test_the_reader_tells_kinds_operators_and_values_apart(meanings: FactReader) -> None:
    assert {found[:3] for found in meanings.read("that costs no more than $24.99", "noun")} == {
        ("price", "at_most", 2499.0)
    }
    assert meanings.read("made of kindness", "noun") == set()
    assert ("price", "at_most", 2499.0) in {found[:3] for found in meanings.read("under $25", "noun")}
