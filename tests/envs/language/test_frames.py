"""The bank that comes with the package: large enough, in order, and complete for every fact that can be drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest

from ecom_rlve.envs.language.acts import Fact
from ecom_rlve.envs.language.bank_files import faults_of
from ecom_rlve.envs.language.frames import (
    COMMON,
    DEFAULT_BANK,
    FACTS,
    LISTS,
    Agreement,
    Bank,
    Frames,
    Place,
    Pool,
    acts_in_bank,
    facts_in_bank,
    frame,
    known_frames,
)
from ecom_rlve.envs.language.noise import NEGATION
from ecom_rlve.envs.language.persona import PERSONAS
from ecom_rlve.envs.language.phrases import bounds_of, frames_of
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop

LEAST_OPENINGS = 200
LEAST_FRAMES = 60
LEAST_FOR_A_CUSTOMER = 30
"""Of one table: with fewer, one who says it often repeats themselves."""
LEAST_NAMES, LEAST_PHRASES = 2, 15
# Said only where a noun is missing, or for the kind of thing alone: rare.
SMALL = frozenset(("answer_noun", "dont_know_bare", "no_preference_bare", "circumstances_list", "revise_bare"))

Drawn = Mapping[str, Mapping[tuple[str, str], tuple[Fact, ...]]]


def tables() -> Mapping[str, Frames]:
    environments()
    acts_in_bank()
    return known_frames()


def size(frames: Frames) -> int:
    return sum(map(len, frames.lists.values()))


def sentences() -> dict[str, Frames]:
    """Return the tables of sentences that every environment uses."""
    return {name: each for name, each in acts_in_bank().items() if not each.is_phrase}


def test_every_environment_has_hundreds_of_openings() -> None:
    openings = {name: size(frames) for name, frames in tables().items() if name.startswith("open_")}
    by_environment = Counter[str]()
    for name, count in openings.items():
        by_environment[name.removeprefix("open_").partition("_")[0]] += count
    assert {*by_environment} >= {"bundle", "cart", "pd", "policy", "return", "status", "sub"}
    assert {name: count for name, count in by_environment.items() if count < LEAST_OPENINGS and name != "lookup"} == {}


def test_every_table_of_an_act_has_many_frames() -> None:
    assert {name: size(each) for name, each in sentences().items() if size(each) < LEAST_FRAMES - 20} == {}
    few = {name: size(each) for name, each in sentences().items() if size(each) < LEAST_FRAMES}
    assert few.keys() <= SMALL, few
    assert len(sentences()) >= 40


def test_every_table_of_phrases_has_some() -> None:
    """There are few names of a thing; orders and rules can be asked for in more ways."""
    phrases = {name: size(each) for name, each in tables().items() if each.is_phrase}
    assert {name.partition("_")[0] for name in phrases} == {"label", "reference", "question"}
    least = {name: LEAST_NAMES if name.startswith("label_") else LEAST_PHRASES for name in phrases}
    assert {name: count for name, count in phrases.items() if count < least[name]} == {}


def test_every_operator_has_many_phrases() -> None:
    by_operator = Counter[str]()
    for (_, op), forms in facts_in_bank().items():
        by_operator[op] += sum(len(frames) for frames in forms.values())
    assert {*by_operator} >= {"eq", "at_most", "at_least"}
    assert {op: count for op, count in by_operator.items() if count < LEAST_FRAMES} == {}


def test_every_customer_has_many_frames_of_every_table() -> None:
    found = sentences()
    assert found.keys() >= SMALL
    for name, frames in found.items():
        for persona in PERSONAS:
            least = LEAST_FOR_A_CUSTOMER - (10 if name in SMALL else 0)
            assert len(frames.of(persona)) >= least, (name, persona.name)


def test_every_frame_of_the_package_passes_what_files_must_pass(wide_shop: Shop) -> None:
    faults = [
        (name, *fault)
        for name, frames in tables().items()
        for fault in faults_of({name: frames.lists}, wide_shop.stated_words, _without(name))
    ]
    assert faults == []


def _without(name: str) -> Bank:
    """Return a bank in which a table is empty, so that its own frames may be added to it."""
    known = known_frames()[name]
    return Bank({name: replace(known, lists={})})


def test_every_phrase_of_the_package_passes_what_files_must_pass(wide_shop: Shop) -> None:
    faults = []
    for (kind, op), forms in facts_in_bank().items():
        empty = Bank({}, {(kind, op): dict.fromkeys(forms, Pool())})
        texts = {form: [each.text for each in frames] for form, frames in forms.items()}
        found = faults_of({FACTS: {kind: {op: texts}}}, wide_shop.stated_words, empty)
        faults += [(kind, op, *fault) for fault in found]
    assert faults == []


def test_every_fact_that_can_be_drawn_has_the_forms_in_which_it_is_said(drawn: Drawn) -> None:
    seen = set()
    for env_id, by_key in drawn.items():
        for key, facts in by_key.items():
            for fact in facts:
                seen.add(key)
                if fact.slot == "quantity":
                    continue
                assert bounds_of(fact), (env_id, key)
                for form in ("clause",) if fact.kind and fact.kind.is_circumstance else ("noun", "should", "clause"):
                    if fact.is_wish and form == "clause":
                        continue
                    assert frames_of(fact, form), (env_id, *key, form)
    assert len(seen) >= 50


def test_a_fact_after_a_noun_can_also_stand_alone(drawn: Drawn) -> None:
    """Where no noun is right before it, a relative clause would be about nothing: "that comes in black"."""
    relative = ("that ", "which ", "whose ", "where ", "who ")
    seen = set()
    for by_key in drawn.values():
        for key, facts in by_key.items():
            if facts[0].slot != "quantity" and not (facts[0].kind and facts[0].kind.is_circumstance):
                seen.add(key)
                assert any(not each.text.startswith(relative) for each in frames_of(facts[0], "noun")), key
    assert len(seen) >= 30


def test_statements_can_name_what_they_are_about(drawn: Drawn) -> None:
    """Of several items, a statement must say which one it is about."""
    seen = set()
    for by_key in drawn.values():
        for (kind, op), facts in by_key.items():
            fact = facts[0]
            if fact.slot == "quantity" or fact.kind is not None or fact.is_wish:
                continue
            seen.add((kind, op))
            assert any("item" in each.places for each in frames_of(fact, "clause")), (kind, op)
    assert len(seen) >= 20


def test_a_frame_is_taken_apart() -> None:
    made = frame("(Hi|Hello), {item} [is|are] my favourite colour.")
    assert made.parts == (("Hi", "Hello"), ", ", Place("item"), " ", Agreement("is", "are"), " my favourite colour.")
    assert made.american_parts[-1] == " my favorite color."
    assert made.places == {"item"}


def test_a_customer_has_the_frames_of_everybody_of_the_register_and_of_the_persona() -> None:
    lists = {name: (f"Frame of {name}.",) for name in LISTS}
    frames = Frames("test", "", (), (), lists)
    for persona in PERSONAS:
        wanted = dict.fromkeys((COMMON, persona.register, persona.name))
        assert [each.text for each in frames.of(persona)] == [f"Frame of {name}." for name in wanted]


def test_the_fingerprint_depends_on_every_frame() -> None:
    assert Bank().fingerprint == DEFAULT_BANK.fingerprint
    seen = {Bank().fingerprint}
    for name in ("confirm", "open_cart"):
        seen.add(Bank({name: tables()[name].extended({"any": ["One more."]})}).fingerprint)
    forms = facts_in_bank()["color", "eq"]
    seen.add(
        Bank({}, {("color", "eq"): {**forms, "noun": Pool((*forms["noun"], frame("a vision in {value}")))}}).fingerprint
    )
    assert len(seen) == 4


def test_two_tables_of_one_name_are_refused() -> None:
    from ecom_rlve.envs.language import frames

    with pytest.raises(ValueError, match="two tables of frames named confirm"):
        frames._known("confirm", {"about": "Another.", "any": ["Yes."]})


def test_a_table_says_whether_it_may_negate() -> None:
    def negates(frames: Frames) -> bool:
        return any(NEGATION.search(text) for texts in frames.lists.values() for text in texts)

    assert negates(tables()["reject"])
    assert tables()["reject"].is_negative
    for name, frames in tables().items():
        if not frames.is_negative and not frames.places and not frames.one_of:
            assert not negates(frames), name
