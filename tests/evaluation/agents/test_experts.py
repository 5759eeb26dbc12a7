"""What holds of every expert: it hears acts, not words, and it is a yardstick (SPEC §10, §11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ecom_rlve.client import StepResult
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import make_expert
from ecom_rlve.models import StepMetadata, Style

EXPERTS = ("POLICY", "RETURN", "STATUS")
"""Those of one errand."""
ALL = (*EXPERTS, "JOURNEY")


@pytest.mark.parametrize("env_id", ALL)
def test_it_does_the_same_whatever_words_the_customer_chose(play: Callable[..., Any], env_id: str) -> None:
    for seed in range(4):
        hearing, deaf = (play(env_id, 9, seed, is_deaf=is_deaf) for is_deaf in (False, True))
        assert hearing.actions == deaf.actions


@pytest.mark.parametrize("env_id", ALL)
def test_it_says_what_it_lacks_where_acts_are_not_disclosed(store: Shop, env_id: str) -> None:
    episode = Episode(store, EpisodeSpec(env_id), "episode")
    with pytest.raises(ValueError, match="ECOM_RLVE_DISCLOSE_ACTS"):
        make_expert(env_id).act(StepResult(episode.opening, None, False, StepMetadata(**episode.metadata.model_dump())))


@pytest.mark.slow
@pytest.mark.parametrize("style", ["turn", "tool"])
@pytest.mark.parametrize(("d", "least"), [(0, 0.95), (3, 0.85), (6, 0.85), (9, 0.85), (12, 0.85)])
@pytest.mark.parametrize("env_id", EXPERTS)
def test_it_is_right_and_its_lazy_rungs_fall_behind(
    play: Callable[..., Any], lazy: Callable[[str], list[str]], env_id: str, d: int, least: float, style: Style
) -> None:
    rungs = ("expert", *lazy(env_id))
    played = {name: [play(env_id, d, seed, name, style).result for seed in range(50)] for name in rungs}
    right = {name: sum(result.is_correct for result in results) / 50 for name, results in played.items()}
    assert right["expert"] >= least
    if d >= 3:
        rewards = {name: sum(result.r_total for result in results) / 50 for name, results in played.items()}
        assert max(rewards[name] for name in lazy(env_id)) < rewards["expert"] - 0.05, rewards
        assert right["guess_and_wait"] <= right["expert"] - 0.2
