"""Traces of every environment replay to the same bytes and rewards, and a change of one is noticed and located."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.episode.trace import Trace, replay, trace_of
from ecom_rlve.envs.errors import ActionError, TraceMismatchError
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import Style
from ecom_rlve.streams import stream

ENVIRONMENTS = sorted(environments())
QUESTIONS = ("Anything else?", "Which brand and color do you want?", "What is your budget?", "When did you order it?")


@pytest.fixture(scope="module")
def store(wide_shop: Shop) -> Shop:
    return wide_shop


def solved(store: Shop, spec: EpisodeSpec, **options: Any) -> Trace:
    """Record the environment's own solution."""
    episode = Episode(store, spec, "solved", **options)
    while not episode.done:
        action = episode.solve()
        calls = action.get("tool_calls", [])
        if spec.style == "tool" and len(calls) > 1:
            action = {"tool_calls": calls[:1], "end_turn": False}
        episode.step(action)
    return trace_of(episode)


def wandered(store: Shop, spec: EpisodeSpec) -> Trace:
    """Record an agent that asks, searches and calls what takes no arguments, at random, and never answers."""
    episode = Episode(store, spec, "wandered")
    rng = stream(spec.seed, "wander", spec.env_id)
    bare = [name for name, tool in episode.environment.about.tools.items() if not _required(tool.schema)]
    while not episode.done:
        call = {"name": bare[int(rng.integers(len(bare)))], "args": {}} if bare else None
        question = QUESTIONS[int(rng.integers(len(QUESTIONS)))]
        calls = [call] if call is not None else []
        episode.step({"tool_calls": calls, "assistant_message": question if rng.random() < 0.5 else ""})
    return trace_of(episode)


def _required(schema: dict[str, Any]) -> list[str]:
    required: list[str] = schema["function"]["parameters"]["required"]
    return required


@pytest.mark.parametrize("style", ["turn", "tool"])
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_a_solution_replays_to_the_same_bytes_and_rewards(store: Shop, env_id: str, style: Style) -> None:
    for d in (0, 4, 9):
        trace = solved(store, EpisodeSpec(env_id, d, 20 + d, style=style))
        replay(trace, store)
        again = Trace.load(trace.dump())
        assert again == trace
        replay(again, store)
        assert trace.result is not None
        assert trace.result.r_task == 1.0
        assert trace.rewards == (None, *[0.0] * (len(trace.actions) - 1), trace.result.r_total)


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_a_random_walk_replays(store: Shop, env_id: str) -> None:
    for d in (0, 6):
        trace = wandered(store, EpisodeSpec(env_id, d, d, split="eval", axes=(("p_noise", 0.3),)))
        replay(Trace.load(trace.dump()), store)
        assert trace.result is not None
        assert trace.spec.axes == (("p_noise", 0.3),)


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_a_changed_byte_is_noticed_where_it_stands(store: Shop, env_id: str) -> None:
    trace = solved(store, EpisodeSpec(env_id, 3, 5))
    assert len(trace.observations) >= 2
    for number, text in enumerate(trace.observations):
        at = text.index('"turn":') + len('"turn":')
        changed = text[:at] + str(9 - int(text[at])) + text[at + 1 :]
        observations = (*trace.observations[:number], changed, *trace.observations[number + 1 :])
        with pytest.raises(TraceMismatchError, match=rf"step {number}: ") as noticed:
            replay(replace(trace, observations=observations), store)
        assert noticed.value.step == number


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_another_action_is_noticed(store: Shop, env_id: str) -> None:
    trace = solved(store, EpisodeSpec(env_id, 3, 5))
    with pytest.raises(TraceMismatchError, match="step 1: "):
        replay(replace(trace, actions=({"text": "no action"}, *trace.actions[1:])), store)
    longer = replace(
        trace,
        actions=(*trace.actions, trace.actions[-1]),
        observations=(*trace.observations, trace.observations[-1]),
    )
    with pytest.raises(TraceMismatchError, match=rf"step {len(longer.actions)}: the action is refused"):
        replay(longer, store)


@pytest.mark.parametrize("change", [{"seed": 6}, {"version": "0/0"}, {"catalog": "other"}, {"style": "tool"}])
def test_another_episode_is_noticed(store: Shop, change: dict[str, Any]) -> None:
    trace = solved(store, EpisodeSpec("CART", 3, 5))
    with pytest.raises(TraceMismatchError, match="step 0: "):
        replay(replace(trace, metadata=trace.metadata.model_copy(update=change)), store)


def test_an_episode_that_cannot_be_made_is_a_mismatch(store: Shop) -> None:
    trace = solved(store, EpisodeSpec("CART"))
    strange = trace.metadata.model_copy(update={"env_id": "KART", "axes": {}})
    with pytest.raises(TraceMismatchError, match="step 0: the episode cannot be made"):
        replay(replace(trace, metadata=strange), store)


def test_how_it_was_shown_is_read_from_the_trace(store: Shop) -> None:
    options = {"include": (), "disclose": True, "reveal_goal": True}
    trace = solved(store, EpisodeSpec("CART", 2, 1), **options)
    assert "instructions" not in trace.observations[0]
    assert trace.result is not None
    assert trace.result.goal is not None
    replay(trace, store)


@pytest.mark.parametrize("include", [("brief",), ("format",), ("brief", "format"), ("tools", "format"), ("tools",), ()])
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_what_the_first_observation_held_is_read_from_it(store: Shop, env_id: str, include: tuple[str, ...]) -> None:
    trace = trace_of(Episode(store, EpisodeSpec(env_id, 2, 1, style="tool"), "shown", include=include))
    replay(Trace.load(trace.dump()), store)


def test_how_raw_text_was_read_is_part_of_the_trace(store: Shop) -> None:
    episode = Episode(store, EpisodeSpec("CART", 2, 1, format="lenient"), "lenient")
    episode.step({"text": 'Let me see: {"tool_calls": []}'})
    trace = Trace.load(trace_of(episode).dump())
    assert (trace.metadata.format, trace.spec.format, trace.result) == ("lenient", "lenient", None)
    replay(trace, store)
    with pytest.raises(TraceMismatchError, match="step 1: "):
        replay(replace(trace, metadata=trace.metadata.model_copy(update={"format": "strict"})), store)


def test_a_trace_leaves_out_what_was_refused(store: Shop) -> None:
    episode = Episode(store, EpisodeSpec("CART"), "late")
    with pytest.raises(ActionError):
        episode.step({"assistant_message": "Hello", "end_turn": False})
    episode.step({"assistant_message": "Which brand?"})
    replay(trace_of(episode), store)
    assert len(trace_of(episode).actions) == 1
    assert trace_of(episode).result is None


@given(st.text() | st.lists(st.dictionaries(st.text(), st.text()).map(json.dumps)).map("\n".join))
def test_anything_else_is_no_trace(text: str) -> None:
    with pytest.raises(ValueError, match="no trace"):
        Trace.load(text)


def test_words_of_any_kind_survive_a_dump(store: Shop) -> None:
    episode = Episode(store, EpisodeSpec("CART"), "words")
    episode.step({"assistant_message": 'a "quoted"\nline\u2028and\x85more \\ ünï 🛒'})
    trace = Trace.load(trace_of(episode).dump())
    assert trace == trace_of(episode)
    replay(trace, store)
