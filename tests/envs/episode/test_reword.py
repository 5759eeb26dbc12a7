"""Other words for what the customer says change the words and nothing else, and a trace carries them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ecom_rlve.envs.customer.outcome import Outcome
from ecom_rlve.envs.customer.voice import Line, Spoken
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.episode.trace import Trace, replay, trace_of
from ecom_rlve.envs.errors import EpisodeDoneError, TraceMismatchError
from ecom_rlve.envs.language.acts import ActKind
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import Observation

ENVIRONMENTS = sorted(environments())
ASK: dict[str, Any] = {"assistant_message": "Anything else I should know?"}


@pytest.fixture(scope="module")
def store(wide_shop: Shop) -> Shop:
    return wide_shop


def other_words(episode: Episode) -> list[Spoken]:
    return [Spoken(f"In other words {each.turn}/{each.number}.", Outcome.ACCEPTED) for each in episode.utterances]


def played(store: Shop, spec: EpisodeSpec, *, rewords: bool) -> tuple[Episode, list[Observation]]:
    """Ask twice, then play the environment's own solution."""
    episode = Episode(store, spec, "played", simulator="a model" if rewords else "template")
    seen = [episode.reword(other_words(episode)) if rewords else episode.opening]
    while not episode.done:
        action = ASK if len(seen) < 3 else episode.solve()
        observation = episode.step(action)
        seen.append(episode.reword(other_words(episode)) if rewords else observation)
    return episode, seen


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_only_the_words_change(store: Shop, env_id: str) -> None:
    spec = EpisodeSpec(env_id, 4, 11, axes=(("t_max", 40.0),))
    plain, seen = played(store, spec, rewords=False)
    other, heard = played(store, spec, rewords=True)
    assert [each.model_copy(update={"user_message": ""}) for each in heard] == [
        each.model_copy(update={"user_message": ""}) for each in seen
    ]
    assert other.result == plain.result
    assert [bool(each.user_message) for each in heard] == [bool(each.user_message) for each in seen]
    said = [message.content for message in other.state().messages if message.role == "user"]
    assert said == [each.user_message for each in heard if each.user_message]
    assert all(line.startswith("In other words") for text in said for line in text.split("\n"))


def test_utterances_tell_a_voice_what_was_said(store: Shop) -> None:
    episode = Episode(store, EpisodeSpec("CART", 3, 5), "told")
    (opening,) = episode.utterances
    assert (opening.turn, opening.number, opening.earlier) == (0, 0, ())
    assert opening.template_text == episode.opening.user_message
    assert [act.kind for act in opening.acts] == [ActKind.OPEN]
    assert opening == Episode(store, EpisodeSpec("CART", 3, 5), "another id").utterances[0]
    episode.reword([Spoken("Hello there.", Outcome.ACCEPTED)])
    observation = episode.step({"text": '{"assistant_message": "Which color?"}'})
    (reply,) = episode.utterances
    assert reply.template_text == observation.user_message
    assert reply.earlier == (Line("customer", "Hello there."), Line("assistant", "Which color?"))
    assert reply.seed != opening.seed
    episode.step({"tool_calls": [{"name": "cart_view", "args": {}}]})
    assert episode.utterances == ()
    assert not episode.has_spoken


def test_a_question_to_the_customer_is_an_earlier_line(store: Shop) -> None:
    episode = Episode(store, EpisodeSpec("CART", 3, 5), "asked")
    episode.step({"tool_calls": [{"name": "ask_user", "args": {"question": "Which size?"}}]})
    assert episode.utterances[0].earlier[-1] == Line("assistant", "Which size?")


def test_each_utterance_wants_its_words(store: Shop) -> None:
    episode = Episode(store, EpisodeSpec("CART", 3, 5), "few")
    with pytest.raises(ValueError, match="said 1 things, not 2"):
        episode.reword([Spoken("One.", Outcome.ACCEPTED), Spoken("Two.", Outcome.ACCEPTED)])


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_a_trace_carries_the_words(store: Shop, env_id: str) -> None:
    episode, seen = played(store, EpisodeSpec(env_id, 2, 3, axes=(("t_max", 40.0),)), rewords=True)
    trace = Trace.load(trace_of(episode).dump())
    assert trace == trace_of(episode)
    assert trace.spoken[0] == (Spoken("In other words 0/0.", Outcome.ACCEPTED),)
    assert [bool(each.user_message) for each in seen] == [bool(spoken) for spoken in trace.spoken]
    replay(trace, store)
    with pytest.raises(TraceMismatchError, match="step 0: "):
        replay(replace(trace, spoken=()), store)
    with pytest.raises(TraceMismatchError, match="step 0: the customer said 1 things, not 2"):
        replay(replace(trace, spoken=(trace.spoken[0] * 2, *trace.spoken[1:])), store)


def test_a_template_trace_holds_no_words(store: Shop) -> None:
    episode, _ = played(store, EpisodeSpec("CART", 2, 3, axes=(("t_max", 40.0),)), rewords=False)
    assert trace_of(episode).spoken == ()
    assert '"spoken"' not in trace_of(episode).dump()


def test_an_aborted_episode_scores_nothing_and_replays(store: Shop) -> None:
    episode = Episode(store, EpisodeSpec("CART", 2, 3), "aborted", reveal_goal=True)
    episode.step({"answer": {"done": True}})
    assert episode.result is not None
    observation = episode.abort("the model is gone")
    assert (observation.reward, observation.done, observation.result) == (None, True, None)
    assert observation.infra_error == "the model is gone"
    assert episode.result is None
    replay(Trace.load(trace_of(episode).dump()), store)
    with pytest.raises(EpisodeDoneError):
        episode.step(ASK)


VAGUE = "Could you elaborate on that?"


def unsaid(episode: Episode) -> list[str]:
    """Return the names of what the customer left out, as far as nothing else is called so."""
    opening = episode.utterances[0].acts
    told = {fact for act in opening for mention in act.mentions for fact in mention.facts}
    names = [slot.name for slot in episode.intent.slots if slot.fact not in told]
    return [name for name in names if [slot.name for slot in episode.intent.slots].count(name) == 1]


def leaving_out(store: Shop) -> Episode:
    return Episode(store, EpisodeSpec("CART", 6, 3, axes=(("p_missing", 1.0), ("t_max", 20.0))), "understood")


def test_a_question_that_the_rules_cannot_read_may_be_understood(store: Shop) -> None:
    episode = leaving_out(store)
    name = unsaid(episode)[-1]
    (question,) = episode.unclear({"assistant_message": VAGUE})
    assert question.text == VAGUE
    assert set(question.topics) == {slot.name for slot in episode.intent.slots}
    episode.step({"assistant_message": VAGUE}, {VAGUE: (name,)})
    asked = leaving_out(store)
    asked.step({"assistant_message": f"Which {question.topics[name]} do you want?"})
    assert episode.utterances[0].acts == asked.utterances[0].acts
    assert name in {fact.slot for act in episode.utterances[0].acts for each in act.mentions for fact in each.facts}


@pytest.mark.parametrize(
    "action",
    [
        {"assistant_message": "Which brand and which price?"},
        {"assistant_message": "I am looking."},
        {"assistant_message": "Is it in stock?"},
        {"assistant_message": VAGUE, "answer": {"done": True}},
        {"text": "no action"},
        {"nonsense": 1},
    ],
)
def test_nothing_else_is_unclear(store: Shop, action: dict[str, Any]) -> None:
    assert leaving_out(store).unclear(action) == ()


def test_a_question_of_an_open_turn_waits_for_its_end(store: Shop) -> None:
    episode = Episode(store, EpisodeSpec("CART", 6, 3, style="tool"), "open")
    asked = {"tool_calls": [{"name": "ask_user", "args": {"question": VAGUE}}]}
    assert [question.text for question in episode.unclear(asked)] == [VAGUE]


def test_understanding_adds_nothing_but_topics(store: Shop) -> None:
    plain, told = leaving_out(store), leaving_out(store)
    clear = {"assistant_message": "Which brand do you want?"}
    foreign = {
        VAGUE: ("product_id", "stock", "no such thing"),
        clear["assistant_message"]: ("price",),
        "other": ("size",),
    }
    for action in ({"assistant_message": VAGUE}, clear, {"assistant_message": "Looking."}):
        assert told.step(action, foreign) == plain.step(action).model_copy(update={"episode_id": told.id})


def test_a_journey_understands_what_its_errand_is_asked(store: Shop) -> None:
    episode = Episode(store, EpisodeSpec("JOURNEY", 6, 3, axes=(("p_missing", 1.0),)), "journey")
    questions = episode.unclear({"assistant_message": VAGUE})
    assert questions
    for question in questions:
        errand = episode.intent
        assert set(question.topics) == {slot.name for slot in errand.slots}


def test_a_trace_carries_what_was_understood(store: Shop) -> None:
    episode = leaving_out(store)
    name = unsaid(episode)[-1]
    episode.step({"assistant_message": VAGUE}, {VAGUE: (name,)})
    episode.step({"answer": {"done": True}})
    trace = Trace.load(trace_of(episode).dump())
    assert trace == trace_of(episode)
    assert trace.understood == ({VAGUE: (name,)}, {})
    replay(trace, store)
    with pytest.raises(TraceMismatchError, match="step 1: "):
        replay(replace(trace, understood=()), store)
