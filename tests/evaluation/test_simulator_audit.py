"""The audit's figures are what their definitions say, and voices are measured on the same episodes."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.customer.outcome import Outcome
from ecom_rlve.envs.customer.voice import Spoken, TemplateOnly, Utterance
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import suites
from ecom_rlve.evaluation.customer.audit import Sitting, samples, sit, specs_of, table
from ecom_rlve.evaluation.customer.wording_statistics import (
    distinct_n,
    distinct_texts,
    reading_ease,
    syllables_in,
    type_token_ratio,
    words_in,
)


class Brief(TemplateOnly):
    """Says hardly anything, and half of it as a fallback."""

    async def say(self, utterance: Utterance) -> Spoken:
        outcome = Outcome.ACCEPTED if utterance.turn == 0 else Outcome.FELL_BACK_LENGTH
        return Spoken("Hm.", outcome)


@pytest.mark.parametrize(
    ("word", "syllables"),
    [
        ("lamp", 1),
        ("like", 1),
        ("table", 2),
        ("wanted", 2),
        ("asked", 1),
        ("coffee", 2),
        ("a", 1),
        ("the", 1),
        ("25", 2),
    ],
)
def test_syllables_are_estimated(word: str, syllables: int) -> None:
    assert syllables_in(word) == syllables


def test_reading_ease_of_a_known_text() -> None:
    """Six one-syllable words in one sentence: 206.835 - 1.015 * 6 - 84.6."""
    assert reading_ease(["The cat sat on the mat."]) == pytest.approx(116.145)
    assert reading_ease(["The cat sat. The dog sat."]) == pytest.approx(206.835 - 1.015 * 3 - 84.6)
    assert math.isnan(reading_ease(["…"]))


def test_variety_of_known_texts() -> None:
    assert distinct_n(["a b a b"], 2) == pytest.approx(2 / 3)
    assert distinct_n(["a", "b"], 2) == 0.0
    assert distinct_texts(["a", "a", "b", "c"]) == 0.75
    assert type_token_ratio(["a b"] * 50 + ["c d"] * 50) == 0.02
    assert words_in("It's 1,299.50 dollars!") == ["it's", "1,299.50", "dollars"]


@given(st.lists(st.text()))
def test_shares_are_shares(texts: Iterable[str]) -> None:
    kept = list(texts)
    for share in (distinct_n(kept, 1), distinct_n(kept, 3), distinct_texts(kept), type_token_ratio(kept)):
        assert 0.0 <= share <= 1.0
    assert all(syllables_in(word) >= 1 for text in kept for word in words_in(text))


@pytest.fixture(scope="module")
def sittings(wide_shop: Shop) -> list[Sitting]:
    specs = specs_of(list(suites()), 16)

    async def both() -> list[Sitting]:
        voices = {"template": TemplateOnly(), "brief": Brief()}
        return [await sit(name, voice, wide_shop, specs, 4, lambda: None) for name, voice in voices.items()]

    return asyncio.run(both())


def test_voices_are_compared_on_the_same_episodes(sittings: list[Sitting]) -> None:
    template, brief = sittings
    assert [each.spec for each in template.dialogues] == [each.spec for each in brief.dialogues]
    assert {each.spec.env_id for each in template.dialogues} == set(suites())
    rows = dict(line.split(" | ", 1) for line in table(sittings).splitlines() if " | " in line)
    assert rows["| words per utterance"].split(" | ")[1].strip(" |") == "1.0"
    assert float(rows["| fallback rate"].split(" | ")[0]) == 0.0
    assert 0.0 < float(rows["| fallback rate"].split(" | ")[1].strip(" |")) < 1.0
    assert "| fell_back_length" in rows
    assert "| fell_back_timeout" not in rows


def test_samples_show_every_environment_with_every_voice(sittings: list[Sitting]) -> None:
    shown = samples(sittings, each=1)
    assert [line for line in shown.splitlines() if line.startswith("## ")] == [
        f"## {env_id}, difficulty 0, seed {1000 + number}: {voice}"
        for number, env_id in sorted(enumerate(suites()), key=lambda pair: pair[1])
        for voice in ("template", "brief")
    ]
    assert "customer (accepted): Hm." in shown
    assert "agent answers" in shown
