"""The check takes what says the acts around their places, and refuses what says less, more, or something else."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.customer.check.check import WordingCheck
from ecom_rlve.envs.customer.check.sheet import Part, Sheet
from ecom_rlve.envs.customer.outcome import Outcome
from ecom_rlve.envs.language.phrases import spellings
from ecom_rlve.evaluation.customer.check import judged

PLACES, WORDS, MEANING = Outcome.FELL_BACK_PLACES, Outcome.FELL_BACK_WORDS, Outcome.FELL_BACK_MEANING
ROLE, LANGUAGE, BRACE = Outcome.FELL_BACK_ROLE, Outcome.FELL_BACK_LANGUAGE, Outcome.FELL_BACK_BRACE
LENGTH, EMPTY = Outcome.FELL_BACK_LENGTH, Outcome.FELL_BACK_EMPTY
FOLDER = Path(__file__).parent


def _part(kind: str, *names: str, about: str = "CART") -> Part:
    heads = [name for name in names if name.startswith(("item", "count"))]
    groups = ((*heads, *(name for name in names if name.startswith("fact"))),) if len(heads) == 1 else ()
    return Part(kind, "", dict.fromkeys(names, "x"), groups, about)


TELLS = Sheet((_part("answer", "item_1", "fact_1"),))
OPENS = Sheet((_part("open", "item_1", "fact_1"),))
TWO = Sheet(
    (
        Part(
            "open",
            "",
            dict.fromkeys(("item_1", "fact_1", "item_2", "fact_2"), "x"),
            (("item_1", "fact_1"), ("item_2", "fact_2")),
            "CART",
        ),
    )
)
FREE = Sheet((_part("no_preference", "thing_1"),))
TABLE: tuple[tuple[Sheet, str, Outcome | None], ...] = (
    # Places.
    (TELLS, "Could I get {item_1} {fact_1}, please?", None),
    (TELLS, "Could I get {item_1}, please?", PLACES),
    (TELLS, "{item_1} {fact_1} and {fact_1}.", PLACES),
    (TELLS, "{item_1} {fact_2}.", PLACES),
    (TELLS, "{artikel_1} {fact_1}.", PLACES),
    (TELLS, "item_1 {fact_1}.", BRACE),
    (TWO, "I need {item_1} {fact_1}, and also {item_2} {fact_2}.", None),
    (TWO, "I need {item_1} {fact_2}, and also {item_2} {fact_1}.", MEANING),
    # Form.
    (TELLS, "", EMPTY),
    (TELLS, "…", EMPTY),
    (TELLS, "{item_1} {fact_1}. " + "Thank you. " * 60 + "Bye.", LENGTH),
    (TELLS, "{item_1} {fact_1}.\nThanks.", LENGTH),
    (TELLS, "**{item_1}** {fact_1}.", BRACE),
    (TELLS, "```{item_1} {fact_1}.```", BRACE),
    (TELLS, "{{item_1}} {fact_1}.", BRACE),
    (TELLS, "{Item_1} {fact_1}.", PLACES),
    (TELLS, "{item_1}\u200b {fact_1}.", LANGUAGE),
    # Facts.
    (TELLS, "{item_1} {fact_1} for $5.", MEANING),
    (TELLS, "Two of {item_1} {fact_1}.", WORDS),
    (TELLS, "I want a sturdy {item_1} {fact_1}.", MEANING),
    (TELLS, "{item_1} {fact_1} by Axiomar.", MEANING),
    (OPENS, "I need {item_1} {fact_1} and a lamp.", WORDS),
    # Turned around, softened, counted.
    (TELLS, "Not {item_1} {fact_1}.", MEANING),
    (TELLS, "{item_1}, anything but {fact_1}.", MEANING),
    (TELLS, "{item_1} {fact_1}, preferably.", WORDS),
    (TELLS, "{item_1} {fact_1} each.", WORDS),
    (TELLS, "{item_1} {fact_1} or so.", MEANING),
    (TELLS, "About {fact_1}, {item_1}.", MEANING),
    (TELLS, "Is {item_1} {fact_1}?", MEANING),
    # Other acts.
    (TELLS, "{item_1} {fact_1}. That's all I need.", MEANING),
    (TELLS, "{item_1} {fact_1}. Perfect, thanks!", MEANING),
    (TELLS, "{item_1} {fact_1}. Goodbye.", WORDS),
    (TELLS, "{item_1} {fact_1}. How can I help you?", ROLE),
    (FREE, "I don't mind about {thing_1}.", None),
    (FREE, "{thing_1} matters to me.", MEANING),
    (Sheet((_part("confirm"),)), "Yes, that's exactly what I wanted, thank you!", None),
    (Sheet((_part("confirm"),)), "Thank you.", MEANING),
    (Sheet((_part("confirm"),)), "Yes, except for the price.", MEANING),
    (Sheet((_part("correct", "item_1", "fact_1"),)), "Hmm, that's not right, I asked for {item_1} {fact_1}.", None),
    (Sheet((_part("correct", "item_1", "fact_1"),)), "I did not ask for {item_1} {fact_1}.", MEANING),
    (Sheet((_part("reject"),)), "Hmm, something there isn't what I asked for.", None),
    (Sheet((_part("continue"),)), "Sure, go ahead.", None),
    (Sheet((_part("stockout_fallback", "item_1"),)), "In that case, leave {item_1} out, please.", None),
    (Sheet((_part("open", "item_1", about="RETURN"),)), "Hi, I'd like to send {item_1} back.", None),
    (Sheet((_part("open", "item_1", about="RETURN"),)), "Hi, I want to buy {item_1}.", MEANING),
    (Sheet((_part("open", "order_1", about="STATUS"),)), "How is {order_1} coming along?", None),
)


@pytest.mark.parametrize(("sheet", "wording", "outcome"), TABLE, ids=[wording[:60] for _, wording, _ in TABLE])
def test_wordings(sheet: Sheet, wording: str, outcome: Outcome | None) -> None:
    found = WordingCheck(sheet)(wording)
    assert (found and found.outcome) == outcome, found


BOUNDS = {
    "": (0.95, 0.02),
    "voices_": (0.95, 0.02),
    "kept_": (0.95, 0.02),
    "manners_": (0.94, 0.03),
    "aside_": (0.88, 0.12),
    "unseen_": (0.86, 0.045),
}
"""For each pair of files the least share of good wordings and the most of lies that pass: what was measured. The
classifier did not learn from the last two."""


@pytest.mark.parametrize("which", BOUNDS)
def test_what_was_measured_holds(which: str) -> None:
    """Sets of wordings by different writers: what should pass, and what should not."""
    least_good, most_lies = BOUNDS[which]
    good = [each.is_right for each in judged(FOLDER / f"{which}good.jsonl")]
    lies = [each.is_right for each in judged(FOLDER / f"{which}lies.jsonl")]
    print(f"{sum(good)} of {len(good)} good wordings pass, {len(lies) - sum(lies)} of {len(lies)} lies")
    assert sum(good) / len(good) >= least_good
    assert 1 - sum(lies) / len(lies) <= most_lies


def test_the_plain_wording_of_every_message_passes(sayings: list[Any]) -> None:
    assert len(sayings) >= 2000
    assert len({act.kind for said in sayings for act in said.utterance.acts}) >= 14
    found = [(said.utterance.check(said.sheet.plain), said.sheet.plain) for said in sayings]
    assert [pair for pair in found if pair[0]] == []


PRONOUNS = ("one", "1")
"""Values that are pronouns, too."""
LOOSE = ("I like {}.", "It had a {} in it.", "Make it {}.", "{} please.", "You know, {}!", "My friend has the {} one.")
"""Ways of dropping a value without saying what it is of."""


def test_an_unsaid_value_does_not_pass_however_it_is_dropped(sayings: list[Any]) -> None:
    tried = 0
    for said in sayings[::20]:
        check, plain = said.utterance.check, said.sheet.plain
        for slot in said.unsaid:
            value = spellings(slot.fact)[0].removeprefix("an ").removeprefix("a ")
            for frame in LOOSE if value not in PRONOUNS else ():
                tried += 1
                assert check(f"{plain} {frame.format(value)}"), frame.format(value)
    assert tried > 5_000


def test_explanations_name_no_unsaid_value(sayings: list[Any]) -> None:
    """What a retry is told comes from the acts or from the model's own words."""
    silent = 0
    for said in sayings[::7]:
        for text in ("I want something nice.", "Hello there, I need it today.", "No."):
            found = said.utterance.check(text)
            told = f"{said.utterance.acts} {text}".casefold()
            for slot in said.unsaid if found else ():
                value = spellings(slot.fact)[0].casefold()
                silent += 1
                assert value in told or len(value) < 4 or value not in found.explanation.casefold(), found
    assert silent > 5_000


@given(st.text(max_size=200))
def test_any_text_is_judged(text: str) -> None:
    found = WordingCheck(TELLS)(text)
    assert found is None or found.outcome.is_fallback


@pytest.mark.parametrize(
    "part", ["i need ", "that's all ", "not so ", "{fact_1} or ", "any of it is ", "would you like ", "'"]
)
def test_no_text_takes_long(part: str) -> None:
    """Patterns that try again and again would let a hostile model stop the server."""
    for sheet in (TELLS, FREE, Sheet((_part("reject"),)), Sheet((_part("confirm"),))):
        started = time.perf_counter()
        WordingCheck(sheet)(part * (360 // len(part)))
        assert time.perf_counter() - started < 1
