"""The authors' first episode, played through the public interface and scored to the printed digit (SPEC §4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.models import Observation, Termination

Start = Callable[..., Episode]

SEED = 3
"""At difficulty 1: one product, any variant of it, everything said at once, nothing of it sells out."""


def structured(action: dict[str, Any]) -> dict[str, Any]:
    return action


def raw(action: dict[str, Any]) -> dict[str, Any]:
    return {"text": f"<think>The next step is clear.</think>\n```json\n{json.dumps(action)}\n```"}


def test_the_seed_is_as_the_authors_describe_their_episode(start: Start) -> None:
    episode = start(1, SEED)
    (item,) = episode.goal_json()["items"]
    assert (item["variant_id"], item["quantity"]) == (None, 1)
    assert episode.customer.left_out == 0
    assert episode.opening.max_turns == 4


@pytest.mark.parametrize("form", [structured, raw])
@pytest.mark.parametrize("style", ["turn", "tool"])
def test_the_authors_episode_at_difficulty_one(
    form: Callable[[dict[str, Any]], dict[str, Any]], style: str, start: Start
) -> None:
    episode = start(1, SEED, style=style)
    (item,) = episode.goal_json()["items"]

    def play(name: str, **args: Any) -> Observation:
        return episode.step(form({"tool_calls": [{"name": name, "args": args}], "end_turn": True}))

    found = play("catalog_search", query=episode.opening.user_message)
    assert item["product_id"] in [card["product_id"] for card in (found.tool_results[0].result or {})["results"]]
    assert (found.user_message, found.turns_left, found.reward) == ("", 3, 0.0)

    added = play("cart_add", product_id=item["product_id"], quantity=item["quantity"])
    assert added.user_message, "the customer confirms"
    assert (added.turn, added.turns_left, added.reward) == (2, 3, 0.0), "and that turn is theirs"

    last = episode.step(form({"answer": {"done": True}}))
    assert last.done
    assert last.result is not None
    result = last.result
    assert (result.turns, result.effective_turns, result.termination) == (3, 2, Termination.ANSWERED)
    assert [f"{part:+.2f}" for part in (result.r_task, result.r_eff, result.r_hall)] == ["+1.00", "+0.33", "+0.00"]
    assert f"{result.r_total:+.2f}" == "+0.80"
    assert (result.r_task, result.r_hall, result.r_total) == (1.0, 0.0, 0.8)
    assert last.reward == result.r_total
    assert result.is_correct


def test_episodes_like_it_score_the_same(start: Start) -> None:
    played = 0
    for seed in range(150):
        episode = start(1, seed, p_switch=0.0)
        (item,) = episode.goal_json()["items"]
        if item["variant_id"] or episode.customer.left_out:
            continue
        found = episode.step(
            {"tool_calls": [{"name": "catalog_search", "args": {"query": episode.opening.user_message, "limit": 10}}]}
        )
        if item["product_id"] not in [card["product_id"] for card in (found.tool_results[0].result or {})["results"]]:
            continue
        args = {"product_id": item["product_id"], "quantity": item["quantity"]}
        added = episode.step({"tool_calls": [{"name": "cart_add", "args": args}]})
        if added.tool_results[0].error:
            # It sold out once it had been shown.
            continue
        assert episode.step({"answer": {"done": True}}).reward == 0.8
        played += 1
    assert played >= 30
