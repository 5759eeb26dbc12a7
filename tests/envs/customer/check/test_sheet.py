"""Sheets hold every fact of the acts in a place, and code fills the places in good English."""

from __future__ import annotations

from typing import Any

import pytest

from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.envs.customer.check.sheet import PLACE, Part, Sheet, sheet_of
from ecom_rlve.envs.language.acts import Act, ActKind, Fact, Mention
from ecom_rlve.envs.language.phrases import spellings

BLUE = Fact("color", Constraint("color", Op.EQ, "blue"))
CHEAP = Fact("price", Constraint("price", Op.AT_MOST, 2484))
THREE = Fact("quantity", Constraint("quantity", Op.EQ, 3))
LAMP = Mention("desk lamp", "desk lamps", (BLUE, CHEAP))
LAMPS = Mention("desk lamp", "desk lamps", (THREE, BLUE))
FAN = Mention("ceiling fan", "ceiling fans", (BLUE,))


def test_facts_stand_behind_their_item() -> None:
    sheet = sheet_of((Act(ActKind.OPEN, (LAMPS, FAN)),), "CART", 7)
    (part,) = sheet.parts
    assert part.groups == (("count_1", "fact_1"), ("item_1", "fact_2"))
    assert part.places["count_1"] in ("three desk lamps", "3 desk lamps")
    assert part.places["item_1"] == "the ceiling fan"
    assert part.says == "I am looking for {count_1} {fact_1} and {item_1} {fact_2}."


def test_places_are_numbered_over_all_acts_and_a_seed_chooses_their_words() -> None:
    acts = (Act(ActKind.NO_PREFERENCE, attributes=("size",)), Act(ActKind.ANSWER, (LAMP,)), Act(ActKind.ANSWER, (FAN,)))
    sheet = sheet_of(acts, "CART", 1)
    assert set(sheet.places) == {"thing_1", "item_1", "fact_1", "fact_2", "item_2", "fact_3"}
    assert sheet == sheet_of(acts, "CART", 1)
    assert len({sheet_of(acts, "CART", seed).places["fact_2"] for seed in range(20)}) > 3


def test_a_wish_stays_one_whatever_the_words_around_it() -> None:
    wish = Fact("color", Constraint("color", Op.EQ, "blue"), is_wish=True)
    sheet = sheet_of((Act(ActKind.ANSWER, (Mention("desk lamp", "desk lamps", (wish,)),)),), "SUB", 1)
    assert sheet.places["fact_1"].startswith("preferably ")


def test_all_facts_of_all_environments_stand_in_places(sayings: list[Any]) -> None:
    told = 0
    for said in sayings:
        sheet = sheet_of(said.utterance.acts, said.utterance.env_id, said.utterance.seed)
        texts = list(sheet.places.values())
        for act in said.utterance.acts:
            for fact in (fact for mention in act.mentions for fact in mention.facts):
                told += 1
                assert any(spelled in text for text in texts for spelled in spellings(fact)), (fact, texts)
        assert sorted(PLACE.findall(sheet.plain)) == sorted(sheet.places), sheet
    assert told > 2_000


@pytest.mark.parametrize(
    ("wording", "text"),
    [
        ("I need {item_1} {fact_1}.", "I need the desk lamp in blue."),
        ("I need a {item_1} {fact_1}.", "I need the desk lamp in blue."),
        ("I want my {item_1} {fact_1}.", "I want my desk lamp in blue."),
        ("Hello. {item_1} {fact_1}.", "Hello. The desk lamp in blue."),
        ("{fact_1}! {item_1}.", "In blue! The desk lamp."),
    ],
)
def test_articles_and_capitals_are_put_right(wording: str, text: str) -> None:
    part = Part("answer", "", {"item_1": "the desk lamp", "fact_1": "in blue"})
    assert Sheet((part,)).fill(wording) == text
    assert Sheet((part,), is_sloppy=True).fill("hello. {item_1}.") == "hello. the desk lamp."


def test_a_place_that_is_not_on_the_sheet_cannot_be_filled() -> None:
    with pytest.raises(KeyError):
        Sheet(()).fill("{item_1}")
