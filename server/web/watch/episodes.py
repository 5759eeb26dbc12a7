"""Episodes that are whole before one watches them: a built-in agent's, through the service, and recorded ones."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from ecom_rlve.client import StepResult
from ecom_rlve.envs.episode.trace import Trace, replay
from ecom_rlve.envs.errors import TraceMismatchError
from ecom_rlve.envs.language.said import with_acts
from ecom_rlve.evaluation.agent import Action, Agent
from ecom_rlve.evaluation.agents import policies_of
from ecom_rlve.models import EnvironmentInfo
from ecom_rlve.server.episodes.record import Record
from ecom_rlve.server.web.games import Games
from ecom_rlve.server.web.played import Played
from ecom_rlve.server.web.views.comparing import Revealed

ORACLE = "oracle"


@dataclass(frozen=True, slots=True)
class Film:
    """An episode that a visitor watches."""

    played: Played
    revealed: Revealed | None
    is_whole: bool = True
    """Whether no more steps come; not while a model still plays."""


class _Knowing:
    """An agent that knows the goal, which it asks of the very episode that it plays."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def act(self, result: StepResult) -> Action:
        """Return the environment's own next action, whatever ``result`` shows."""
        del result
        return self._record.episode.solve()


def agents_of(info: EnvironmentInfo, listed: Mapping[str, EnvironmentInfo]) -> list[str]:
    """Return the names of the agents that can be watched in an environment, the best ones first."""
    first, *others = policies_of(info.env_id, listed).names
    return [first, ORACLE, *others]


async def watched(
    games: Games, env_id: str, difficulty: int, seed: int | None, name: str
) -> tuple[Played, Revealed | None]:
    """Let an agent play a whole episode, and return it.

    Raises:
        ValueError: no agent of this name plays in the environment.
    """
    record = await games.start(env_id, difficulty, seed, "turn")
    try:
        agent: Agent = _Knowing(record) if name == ORACLE else policies_of(env_id, games.listed).make(name)
        while not record.episode.done:
            # An agent reads what a server that discloses acts would send it, and may think for a while.
            action = await asyncio.to_thread(agent.act, _told(record))
            await games.step(record.episode_id, action)
        return Played.of_episode(record.episode), await games.reveal(record)
    finally:
        await games.drop(record.episode_id)


def _told(record: Record) -> StepResult:
    episode = record.episode
    seen = episode.log.latest
    return StepResult(seen, seen.reward, seen.done, with_acts(episode.metadata, episode.acts))


async def recorded(games: Games, text: str) -> tuple[Played, str]:
    """Return a recorded episode, and what playing it again on this server shows.

    Raises:
        ValueError: the text is no trace.
    """
    trace = Trace.load(text)
    played = Played.of_trace(trace)
    try:
        await asyncio.to_thread(partial(replay, trace, games.shop))
    except TraceMismatchError as mismatch:
        return played, f"Played again on this server it differs: {mismatch}"
    return played, "Played again on this server it is the same to the byte."
