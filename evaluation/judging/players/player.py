"""What a run asks of whatever plays, and how the faults of agents are told from everything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.judging.records import Fault, FaultKind, Usage

PROSE = "The agent gave nothing that could be sent as an action."
"""Sent as raw text where an agent's output is no action: neither format reads one in it, so it is a format failure."""


class AgentFaultError(Exception):
    """The agent's own fault: the episode ends as the kind of fault says, and the run goes on."""

    def __init__(self, kind: FaultKind, message: str) -> None:
        super().__init__(message)
        self.fault = Fault(kind=kind, message=message[:300])


class AgentUnavailableError(Exception):
    """What the agent runs on does not answer, such as a model server that is down: no fault of the agent."""


class SpentError(Exception):
    """The run has spent all that it may: nobody is asked again."""


class Player(Protocol):
    """One agent in one episode."""

    usage: Usage
    """What it has used up so far."""

    async def act(self, result: StepResult) -> Mapping[str, Any] | str:
        """Return the next action, or a model's raw text.

        Raises :class:`AgentFaultError`, :class:`AgentUnavailableError` and :class:`SpentError`.
        """
        ...


class Players(Protocol):
    """Makes the players of a run."""

    def make(self, env_id: str, seed: int, trial: int) -> Player:
        """Return a new player for one episode.

        Raises :class:`~ecom_rlve.evaluation.judging.errors.JudgingError` where this agent does not play there.
        """
        ...
