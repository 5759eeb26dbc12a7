"""Scripted agents at play in process, told the customer's acts as a server tells them that discloses these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from ecom_rlve.client import StepResult
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.said import with_acts
from ecom_rlve.envs.registry import environment
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import make_expert
from ecom_rlve.evaluation.agents.skill import RUNGS
from ecom_rlve.models import EpisodeResult, Style


@dataclass(slots=True)
class Game:
    """One episode that was played."""

    episode: Episode
    actions: list[dict[str, Any]] = field(default_factory=list)

    @property
    def result(self) -> EpisodeResult:
        """How it ended."""
        assert self.episode.result is not None
        return self.episode.result

    @property
    def calls(self) -> list[dict[str, Any]]:
        """Every call that was made."""
        return [call for action in self.actions for call in action.get("tool_calls") or ()]

    @property
    def messages(self) -> list[str]:
        """Everything that was said to the customer."""
        return [said for action in self.actions if (said := action.get("assistant_message"))]


@pytest.fixture(scope="session")
def store() -> Shop:
    """Return a shop of 2,000 procedural products, which serves every environment up to d = 12."""
    return Shop.open("synthetic:2000:0")


@pytest.fixture
def play(store: Shop) -> Callable[..., Game]:
    """Return a player: ``play(env_id, d, seed, name="expert", style="turn", is_deaf=False, **axes)``.

    One who ``is_deaf`` gets no word of the customer's, only what is disclosed of them.
    """

    def played(
        env_id: str,
        d: int,
        seed: int,
        name: str = "expert",
        style: Style = "turn",
        *,
        is_deaf: bool = False,
        **axes: float,
    ) -> Game:
        game = Game(Episode(store, EpisodeSpec(env_id, d, seed, style=style, axes=tuple(axes.items())), "episode"))
        agent, seen = make_expert(env_id, name), game.episode.opening
        while not game.episode.done:
            shown = seen.model_copy(update={"user_message": ""}) if is_deaf else seen
            metadata = with_acts(game.episode.metadata, game.episode.acts)
            game.actions.append(agent.act(StepResult(shown, None, False, metadata)))
            seen = game.episode.step(game.actions[-1])
        return game

    return played


@pytest.fixture
def lazy() -> Callable[[str], list[str]]:
    """Return what names the weaker rungs of an environment's expert."""

    def named(env_id: str) -> list[str]:
        axes = environment(env_id).about.axes
        return [name for name, rung in RUNGS.items() if rung.axis in ("", *axes)]

    return named
