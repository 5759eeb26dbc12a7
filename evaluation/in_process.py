"""Playing agents without a server; they are told the customer's acts beside each observation (SPEC §10)."""

from __future__ import annotations

from ecom_rlve.client import StepResult
from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.language.said import with_acts
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agent import Agent
from ecom_rlve.models import EnvironmentInfo, EpisodeResult, Observation


def told(episode: Episode, seen: Observation) -> StepResult:
    """Return the latest observation of an episode as a server that discloses acts tells it."""
    return StepResult(seen, seen.reward, seen.done, with_acts(episode.metadata, episode.acts))


def play(episode: Episode, agent: Agent) -> EpisodeResult:
    """Play an episode to its end."""
    seen = episode.opening
    while seen.result is None:
        seen = episode.step(agent.act(told(episode, seen)))
    return seen.result


def listed_of(shop: Shop) -> dict[str, EnvironmentInfo]:
    """Return what a server with a shop tells of its environments, by id, without those that it cannot serve."""
    most = {env_id: each.max_difficulty(shop) for env_id, each in environments().items()}
    return {env_id: environments()[env_id].about.info(level) for env_id, level in most.items() if level >= 0}
