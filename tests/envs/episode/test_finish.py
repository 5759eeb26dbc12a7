"""An episode that its client finishes ends as with its budget spent (SPEC §2.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.episode.log import FINISH
from ecom_rlve.envs.episode.reward import FINISHED, Turns, efficiency
from ecom_rlve.envs.episode.trace import Trace, play_again, replay, take, trace_of
from ecom_rlve.envs.errors import ActionError, EpisodeDoneError
from ecom_rlve.envs.parts.solving import in_style
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import EpisodeResult, Observation, Style, Termination

Start = Callable[..., Episode]
VIEW: dict[str, Any] = {"tool_calls": [{"name": "cart_view", "args": {}}]}
SCORES = ("r_task", "r_eff", "r_hall", "r_total", "is_correct", "correct_share", "termination", "style", "format")


@pytest.fixture(scope="module")
def store(wide_shop: Shop) -> Shop:
    return wide_shop


def ended(observation: Observation) -> EpisodeResult:
    assert observation.done
    assert observation.result is not None
    assert observation.reward == observation.result.r_total
    return observation.result


def halfway(store: Shop, env_id: str, style: Style) -> Episode:
    """Return an episode that was played as far as its solution goes without the final answers but the first."""
    episode = Episode(store, EpisodeSpec(env_id, 4, 3, style=style), "halfway")
    answers = 0
    while not episode.done:
        action = in_style(episode.solve(), style)
        answers += bool(action.get("answer"))
        if answers > (1 if episode.environment.about.members else 0):
            break
        episode.step(action)
    return episode


@pytest.mark.parametrize("style", ["turn", "tool"])
@pytest.mark.parametrize("env_id", sorted(environments()))
def test_it_ends_as_with_the_budget_spent(store: Shop, env_id: str, style: Style) -> None:
    finished, spent = halfway(store, env_id, style), halfway(store, env_id, style)
    turns = finished.turns
    last = finished.finish()
    while not spent.done:
        idle = spent.step({})
    one, other = ended(last), ended(idle)
    assert {name: getattr(one, name) for name in SCORES} == {name: getattr(other, name) for name in SCORES}
    assert one.termination is Termination.TURN_BUDGET
    assert (one.reason, other.reason) == (FINISHED, None)
    assert one.turns == turns <= other.turns
    assert (last.user_message, last.tool_results, last.turns_left, last.tool_calls_left) == ("", [], 0, 0)
    if env_id == "JOURNEY":
        assert one.correct_share > 0, "closed intents keep their scores"
    else:
        assert one.r_task == -1


@pytest.mark.parametrize("before", [0, 2])
def test_nothing_comes_after_it(before: int, start: Start) -> None:
    episode = start(3)
    for _ in range(before):
        episode.step(VIEW)
    state, steps = episode.state(), episode.log.taken
    result = ended(episode.finish())
    assert (result.turns, result.effective_turns, result.is_correct) == (before, max(1, before), False)
    assert episode.state() == state.model_copy(update={"done": True})
    assert episode.log.taken == steps == before
    for late in (episode.finish, lambda: episode.step(VIEW)):
        with pytest.raises(EpisodeDoneError):
            late()
    assert episode.result == result


def test_an_open_turn_is_left_as_it_is(start: Start) -> None:
    episode = start(3, style="tool")
    episode.step(VIEW)
    assert ended(episode.finish()).turns == 0


def test_the_turns_that_were_left_count_as_spent() -> None:
    assert efficiency(Turns(2, 0, 8, is_cut_short=True)) == -1 < efficiency(Turns(2, 0, 8))


def test_a_finished_episode_is_replayed(start: Start, shop: Shop) -> None:
    episode = start(3)
    episode.step(VIEW)
    episode.finish()
    trace = Trace.load(trace_of(episode).dump())
    assert trace == trace_of(episode)
    assert trace.actions[-1] is FINISH
    assert trace_of(play_again(lambda: start(3), episode.log)) == trace
    replay(trace, shop)
    assert trace.result is not None
    assert trace.result.reason == FINISHED


def test_no_action_finishes_an_episode(start: Start) -> None:
    """What a client sends may look like the mark in a trace; it is another object, and no action."""
    episode = start()
    with pytest.raises(ActionError, match="finish"):
        take(episode, dict(FINISH))
    assert not episode.done
