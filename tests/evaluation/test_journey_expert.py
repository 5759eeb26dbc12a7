"""The JOURNEY expert: hears which errand is spoken of, and does each of them as its own expert does."""

from __future__ import annotations

from statistics import fmean

import pytest

from ecom_rlve.client import StepResult
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.said import with_acts
from ecom_rlve.envs.registry import environment
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import make_expert
from ecom_rlve.evaluation.agents.journey.errands import (
    after_first_sentence,
    comes_back,
    errand_of,
    split_at_interruption,
)
from ecom_rlve.evaluation.agents.skill import RUNGS
from ecom_rlve.models import EpisodeResult, Style


@pytest.fixture(scope="module")
def store(wide_shop: Shop) -> Shop:
    return wide_shop


def played(store: Shop, name: str, d: int, seed: int, style: Style = "turn", **axes: float) -> EpisodeResult:
    episode = Episode(store, EpisodeSpec("JOURNEY", d, seed, style=style, axes=tuple(axes.items())), "episode")
    agent = make_expert("JOURNEY", name)
    step = StepResult(episode.opening, None, False, with_acts(episode.metadata, episode.acts))
    named: list[str] = []
    while not step.done:
        action = agent.act(step)
        if (action.get("answer") or {}).get("done"):
            named.append(action["answer"]["intent"])
            assert action["answer"]["intent"] == episode.intent.errand.about.id
        observation = episode.step(action)
        step = StepResult(observation, observation.reward, observation.done, with_acts(episode.metadata, episode.acts))
    assert len(named) == len(set(named))
    assert episode.result is not None
    return episode.result


@pytest.mark.parametrize("style", ["turn", "tool"])
@pytest.mark.parametrize("p_switch", [0.0, 1.0])
def test_the_expert_does_the_job(store: Shop, style: Style, p_switch: float) -> None:
    assert fmean(played(store, "expert", 0, seed, style, p_switch=p_switch).is_correct for seed in range(40)) >= 0.95


@pytest.mark.parametrize(("d", "least"), [(3, 0.9), (6, 0.85), (12, 0.75)])
def test_the_expert_names_every_errand_and_does_most_of_them(store: Shop, d: int, least: float) -> None:
    assert fmean(played(store, "expert", d, seed).correct_share for seed in range(12)) >= least


def test_lazy_rungs_do_it_worse(store: Shop) -> None:
    names = ("expert", *RUNGS)
    means = {name: fmean(played(store, name, 9, seed).r_total for seed in range(12)) for name in names}
    assert max(means, key=lambda name: means[name]) == "expert", means


@pytest.mark.parametrize("d", [0, 6, 12])
def test_openings_tell_the_errand(store: Shop, d: int) -> None:
    for env_id in environment("JOURNEY").about.members:
        for seed in range(40):
            said = Episode(store, EpisodeSpec(env_id, d, seed), "episode").opening.user_message
            assert errand_of(said) == env_id, said


def test_no_errand_is_begun_twice() -> None:
    assert errand_of("I'd like to return my lamp.") == "RETURN"
    assert errand_of("I'd like to return my lamp.", ("RETURN",)) != "RETURN"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("I paid cash. Before we go on, there is something else. I need a lamp.", ("I paid cash.", "I need a lamp.")),
        ("Size m. Wait, antoher thing. Need a lamp.", ("Size m.", "Need a lamp.")),
        ("OK! Oh, hold on, smth else just came to mind! A lamp!", ("OK!", "A lamp!")),
        ('Then take "Another Thing, Red" instead.', None),
        ("I said something else: the lamp is red.", None),
        ("I want one more.", None),
    ],
)
def test_interruptions_are_heard(text: str, parts: tuple[str, str] | None) -> None:
    assert split_at_interruption(text) == parts


def test_moving_on_and_coming_back_are_told_apart() -> None:
    assert after_first_sentence("Next, something else. I need a lamp. Thanks.") == "I need a lamp. Thanks."
    for text in ("Now back to my cart.", "Let us retrun to my order.", "Right, where were we? Back to the return!"):
        assert comes_back(text)
    for text in ("Next thing. I need to send a lamp back to you.", "Next, something else. I'd like to return my lamp."):
        assert not comes_back(text)
