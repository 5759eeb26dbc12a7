"""The BUNDLE expert: does the job from observations alone, and its lazy rungs do it worse."""

from __future__ import annotations

from statistics import fmean

import pytest

from ecom_rlve.client import StepResult
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.said import with_acts
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import make_expert
from ecom_rlve.evaluation.agents.skill import RUNGS
from ecom_rlve.models import EpisodeResult, Style


@pytest.fixture(scope="module")
def store(wide_shop: Shop) -> Shop:
    return wide_shop


def played(store: Shop, name: str, d: int, seed: int, style: Style = "turn") -> EpisodeResult:
    episode = Episode(store, EpisodeSpec("BUNDLE", d, seed, style=style), "episode")
    agent = make_expert("BUNDLE", name)
    answer = StepResult(episode.opening, None, False, with_acts(episode.metadata, episode.acts))
    while not answer.done:
        observation = episode.step(agent.act(answer))
        answer = StepResult(
            observation, observation.reward, observation.done, with_acts(episode.metadata, episode.acts)
        )
    assert episode.result is not None
    assert episode.result.r_hall == 0.0
    return episode.result


@pytest.mark.parametrize(
    ("d", "style", "least"), [(0, "turn", 0.95), (0, "tool", 0.95), (3, "turn", 0.9), (9, "tool", 0.7)]
)
def test_the_expert_does_the_job(store: Shop, d: int, style: Style, least: float) -> None:
    assert fmean(played(store, "expert", d, seed, style).is_correct for seed in range(30)) >= least


@pytest.mark.parametrize("d", [9, 12])
def test_lazy_rungs_do_it_worse(store: Shop, d: int) -> None:
    means = {name: fmean(played(store, name, d, seed).r_total for seed in range(30)) for name in ("expert", *RUNGS)}
    assert max(means, key=lambda name: means[name]) == "expert"
