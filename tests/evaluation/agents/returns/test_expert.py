"""The RETURN expert: sends back the line that is meant as it is wanted, or nothing where it cannot be returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.envs.customer.hearing.question_words import with_kinds
from ecom_rlve.envs.customer.hearing.reading import read
from ecom_rlve.envs.customer.hearing.topics import Topics
from ecom_rlve.evaluation.agents.returns.expert import QUESTIONS
from ecom_rlve.evaluation.agents.returns.replacement import Replacement
from ecom_rlve.models import Style


def initiated(game: Any) -> list[str]:
    return [call["name"] for call in game.calls if call["name"] in ("return_initiate", "return_exchange")]


@pytest.mark.parametrize("style", ["turn", "tool"])
def test_it_initiates_nothing_where_the_line_is_not_eligible(play: Callable[..., Any], style: Style) -> None:
    games = [play("RETURN", d, seed, style=style) for d in (0, 6) for seed in range(25)]
    refused = [game for game in games if not game.episode.intent.goal.is_eligible]
    assert len(refused) >= 10
    assert all(game.result.is_correct and not initiated(game) for game in refused)


@pytest.mark.parametrize("style", ["turn", "tool"])
def test_it_asks_for_what_was_left_out(play: Callable[..., Any], style: Style) -> None:
    for seed in range(30):
        game = play("RETURN", 9, seed, style=style, p_missing=1.0)
        assert game.result.is_correct, seed
        assert initiated(game) or not game.episode.intent.goal.is_eligible


def test_it_exchanges_and_recommends_what_meets_every_wish(play: Callable[..., Any]) -> None:
    games = [play("RETURN", 12, seed) for seed in range(40)]
    wanted = [game for game in games if game.episode.intent.goal.replacement and initiated(game)]
    assert {name for game in wanted for name in initiated(game)} == {"return_exchange", "return_initiate"}
    assert all(game.result.is_correct for game in wanted)


def test_it_looks_for_nothing_new_unless_told_to(play: Callable[..., Any]) -> None:
    games = [play("RETURN", 6, seed, p_missing=1.0) for seed in range(20)]
    unwanted = [game for game in games if game.episode.intent.goal.replacement is None]
    assert len(unwanted) >= 5
    assert not any(call["name"] == "catalog_search" for game in unwanted for call in game.calls)


def test_every_question_is_heard_as_what_it_asks(play: Callable[..., Any]) -> None:
    """Of the thing that goes back, and of each attribute that a new one of its kind can have."""
    tried = 0
    for seed in range(40):
        episode = play("RETURN", 9, seed).episode
        subjects = tuple((subject.singular, subject.plural) for subject in episode.intent.subjects)
        kinds = {slot.fact.kind for slot in episode.intent.slots if slot.fact.kind} | set(episode.intent.unknown)
        phrases = with_kinds(tuple(sorted(kinds, key=lambda kind: kind.name)))
        topics = Topics(subjects, episode.intent.world.shop.value_index, {}, phrases)
        for topic, question in QUESTIONS.items():
            assert [name for _, name in read(question, topics).asked] == [topic], question
        if len(subjects) > 1:
            tried += 1
            new = Replacement(subjects[0][0], "lamps", {})
            new.cards["P"] = {"product_id": "P", **dict.fromkeys(ATTRIBUTES)}
            asked = {name: read(question, topics).asked for name, question in new.questions().items()}
            assert asked == {name: ((1, name),) for name in ("price", "brand", "rating", "ship_days", *ATTRIBUTES)}
    assert tried >= 10
