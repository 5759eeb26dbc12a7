"""Built-in agents as players. They are ours: where one of them raises, the run stops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Agent
from ecom_rlve.evaluation.agents import policies_of
from ecom_rlve.evaluation.expert.heard import ActsNotDisclosedError
from ecom_rlve.evaluation.judging.errors import JudgingError
from ecom_rlve.evaluation.judging.players.threads import in_thread
from ecom_rlve.evaluation.judging.records import Usage
from ecom_rlve.evaluation.oracle import DivergedError
from ecom_rlve.models import EnvironmentInfo
from ecom_rlve.streams import stream

ORACLE = "oracle"


class BuiltInPlayer:
    """A built-in agent in one episode."""

    def __init__(self, name: str, agent: Agent) -> None:
        self.usage = Usage()
        self._name = name
        self._agent = agent

    async def act(self, result: StepResult) -> Mapping[str, Any]:
        """Return the agent's action; raises :class:`JudgingError` if it cannot play against this server."""
        try:
            return await in_thread(partial(self._agent.act, result))
        except (ActsNotDisclosedError, DivergedError) as error:
            raise JudgingError(f"{self._name}: {error}") from error


class BuiltInPlayers:
    """The built-in agents of one name."""

    def __init__(self, name: str, listed: Mapping[str, EnvironmentInfo], oracle: Callable[[], Agent]) -> None:
        """``listed`` is what the server tells of its environments, ``oracle`` makes an oracle with its catalog."""
        self._name = name
        self._policies = {env_id: policies_of(env_id, listed) for env_id in listed}
        self._oracle = oracle

    def make(self, env_id: str, seed: int, trial: int) -> BuiltInPlayer:
        """Return a new player; raises :class:`JudgingError` where no agent of the name plays in the environment."""
        if self._name == ORACLE:
            return BuiltInPlayer(self._name, self._oracle())
        # An agent that draws at random draws something else in each trial.
        drawn = int(stream(seed, "judging", "trial", trial).integers(2**31))
        try:
            return BuiltInPlayer(self._name, self._policies[env_id].make(self._name, drawn))
        except ValueError as error:
            raise JudgingError(str(error)) from error
