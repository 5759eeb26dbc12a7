"""What happened in an episode, step by step: the one record from which state, trace and replay are told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ecom_rlve.envs.customer.turn import NOTHING_UNDERSTOOD, Understood
from ecom_rlve.envs.customer.voice import Spoken
from ecom_rlve.models import Message, Observation

FINISH: Mapping[str, Any] = {"finish": True}
"""Stands among the actions for the client's ending the episode. It is known by its identity, and no action that can be
taken has such a field."""


@dataclass(slots=True)
class Step:
    """One action and what it gave."""

    action: Mapping[str, Any]
    observation: Observation
    understood: Understood = field(default_factory=lambda: NOTHING_UNDERSTOOD)
    """What a model took the action's questions to be about."""
    spoken: tuple[Spoken, ...] = ()
    """What the customer said to it, where a model worded that; empty where the templates speak."""


@dataclass(slots=True)
class Log:
    """An episode so far: with its spec, all that it is a function of."""

    opening: Observation
    spoken: tuple[Spoken, ...] = ()
    """What the customer opened with, where a model worded that; empty where the templates speak."""
    steps: list[Step] = field(default_factory=list)
    aborted: str | None = None
    """Why the server ended the episode after its last step; None where it did not."""

    @property
    def latest(self) -> Observation:
        """What was observed last."""
        return self.steps[-1].observation if self.steps else self.opening

    @property
    def taken(self) -> int:
        """Number of steps that an agent took."""
        return len(self.steps) - any(step.action is FINISH for step in self.steps[-1:])

    def amend(self, observation: Observation, spoken: tuple[Spoken, ...] | None = None) -> Observation:
        """Let an observation stand for the latest one, and return it; ``spoken`` None leaves what was said there."""
        if self.steps:
            last = self.steps[-1]
            last.observation = observation
            last.spoken = last.spoken if spoken is None else spoken
        else:
            self.opening = observation
            self.spoken = self.spoken if spoken is None else spoken
        return observation

    def messages(self) -> list[Message]:
        """Return the conversation: the customer's words, the agent's actions, the tools' results."""
        messages = [Message(role="user", content=self.opening.user_message)]
        for step in self.steps[: self.taken]:
            messages.append(Message(role="assistant", content=json.dumps(step.action, ensure_ascii=False)))
            results = step.observation.tool_results
            messages += [Message(role="tool", content=each.model_dump_json(exclude_unset=True)) for each in results]
            if step.observation.user_message:
                messages.append(Message(role="user", content=step.observation.user_message))
        return messages
