"""Noun phrases: the article or the count in front, at most two words before the noun, the other facts after it."""

from __future__ import annotations

import re

import pytest

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.envs.language.acts import Fact, Mention
from ecom_rlve.envs.language.frames import RELATIVE
from ecom_rlve.envs.language.noun_phrases import noun_phrase
from ecom_rlve.envs.language.persona import PERSONAS
from ecom_rlve.envs.language.speaker import Speaker
from ecom_rlve.streams import stream

ROUNDS = 300


def fact(slot: str, value: str | float, op: Op = Op.EQ) -> Fact:
    return Fact(slot, Constraint(slot, op, value), ATTRIBUTES[slot].unit if slot in ATTRIBUTES else "")


COLOUR, BRAND, MATERIAL = fact("color", "amber"), fact("brand", "Northwick"), fact("material", "steel")
PRICE = fact("price", 2499, Op.AT_MOST)
COUNT = fact("quantity", 3)
ONE = fact("quantity", 1)
RUG, SCISSORS, UMBRELLA = ("rug", "rugs"), ("pair of scissors", "pairs of scissors"), ("umbrella", "umbrellas")


def phrases(mention: Mention, most: int = 3, *, is_counted: bool = False) -> set[str]:
    rng = stream(1, "phrases", str(mention), most)
    return {noun_phrase(Speaker(PERSONAS[0], rng), mention, most, is_counted=is_counted).text for _ in range(ROUNDS)}


def test_the_article_agrees_with_the_word_behind_it() -> None:
    texts = phrases(Mention(*RUG, (COLOUR, BRAND)))
    assert any(text.startswith("an amber rug") for text in texts)
    assert any(text.startswith("a Northwick rug") for text in texts)
    assert any(text.startswith("a rug ") for text in texts)
    assert all(re.match(r"an amber|a (?:Northwick|rug)", text) for text in texts), texts
    assert phrases(Mention(*UMBRELLA), 0) == {"an umbrella"}


def test_without_facts_it_is_the_noun() -> None:
    assert phrases(Mention(*RUG, (COLOUR,)), 0) == {"a rug"}
    assert phrases(Mention(*RUG, (COLOUR,)), 0, is_counted=True) == {"rugs"}
    assert phrases(Mention(*SCISSORS), 0) == {"a pair of scissors"}
    assert phrases(Mention(*SCISSORS), 0, is_counted=True) == {"scissors"}


def test_a_count_stands_before_all_and_the_noun_agrees() -> None:
    many = phrases(Mention(*RUG, (COUNT, COLOUR, PRICE)), is_counted=True)
    assert len(many) >= 10
    for text in many:
        assert re.match(r"(?:three|3) (?:amber )?rugs\b", text), text
    for text in phrases(Mention(*RUG, (ONE, COLOUR)), is_counted=True):
        assert re.match(r"(?:one|1|a single) (?:amber )?rug\b", text), text


def test_a_measure_stays_in_front() -> None:
    for text in phrases(Mention(*SCISSORS, (COUNT, BRAND)), is_counted=True):
        assert re.match(r"(?:three|3) pairs of (?:Northwick )?scissors", text), text
    texts = phrases(Mention(*SCISSORS, (COLOUR,)))
    assert all(re.match(r"a pair of (?:amber )?scissors", text) for text in texts), texts
    assert any("of amber scissors" in text for text in texts)


def test_the_verb_agrees_with_the_number() -> None:
    one, many = phrases(Mention(*RUG, (PRICE,))), phrases(Mention(*RUG, (COUNT, PRICE)), is_counted=True)
    kind = phrases(Mention(*RUG, (PRICE,)), is_counted=True)
    assert any(re.search(r"\bthat (?:costs|goes|sells|stays|comes|is)\b", text) for text in one)
    for texts in (many, kind):
        assert any(re.search(r"\bthat (?:cost|go|sell|stay|come|are)\b", text) for text in texts)
        assert not any(re.search(r"\bthat (?:costs|goes|sells|stays|comes|is|has)\b", text) for text in texts)
    assert not any(re.search(r"\bthat (?:cost|go|sell|stay|come|are|have)\b|apiece|\beach\b", text) for text in one)


def test_at_most_two_words_of_facts_stand_before_the_noun() -> None:
    mention = Mention(*RUG, (COLOUR, BRAND, MATERIAL, fact("style", "modern"), fact("pattern", "striped")))
    values = {"amber", "Northwick", "steel", "modern", "striped"}
    seen = set()
    for text in phrases(mention, 5):
        before = text[: text.index("rug")].split()
        told = [word for word in before if word in values]
        assert len(told) <= 2, text
        seen.add(len(told))
    assert seen == {0, 1, 2}


def test_what_is_no_simple_word_stands_behind() -> None:
    for value in ("polka dot print", "100% wool", "Black/White", "Very Long Name"):
        texts = phrases(Mention(*RUG, (fact("color", value),)))
        assert len(texts) >= 5
        for text in texts:
            assert text.startswith("a rug "), text


def test_a_value_is_not_said_before_a_noun_that_holds_it() -> None:
    texts = phrases(Mention("amber lamp", "amber lamps", (COLOUR,)))
    assert len(texts) >= 5
    for text in texts:
        assert text.startswith("an amber lamp "), text
        assert "amber amber" not in text


def test_relative_clauses_come_last() -> None:
    facts = (COLOUR, PRICE, fact("rating", 4.5, Op.AT_LEAST))
    texts = phrases(Mention(*RUG, facts))
    assert any(f" {clause}" in text for clause in RELATIVE for text in texts)
    for text in texts:
        for clause in RELATIVE:
            assert f" {clause}" not in text or text.rindex(f" {clause}") >= text.index("rug"), text


@pytest.mark.parametrize("most", range(5))
def test_every_fact_is_in_the_phrase_or_left(most: int) -> None:
    facts = (COLOUR, BRAND, MATERIAL, PRICE)
    rng = stream(2, "left", most)
    for _ in range(ROUNDS):
        worded = noun_phrase(Speaker(PERSONAS[0], rng), Mention(*RUG, facts), most)
        assert len(worded.left) == len(facts) - min(most, len(facts))
        for each in (COLOUR, BRAND, MATERIAL):
            assert (str(each.constraint.value) in worded.text) == (each not in worded.left), worded
