"""What happened in an episode, step by step: the one record behind state, trace and replay."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from ecom_rlve.envs.customer.turn import NOTHING_UNDERSTOOD, Understood
from ecom_rlve.envs.customer.voice import Spoken
from ecom_rlve.models import DomainCode, Message, Observation, ToolResult

FINISH: Mapping[str, Any] = {"finish": True}
"""Stands among the actions for the client's ending the episode. It is known by its identity, and no action that can be
taken has such a field."""


@dataclass(slots=True)
class Step:
    """One action and the observation that followed."""

    action: Mapping[str, Any]
    observation: Observation
    understood: Understood = field(default_factory=lambda: NOTHING_UNDERSTOOD)
    """The topics that a model found in the action's questions."""
    spoken: tuple[Spoken, ...] = ()
    """The customer's reply if a model worded it; empty if the templates did."""


@dataclass(slots=True)
class Log:
    """An episode so far. Together with the spec it determines the episode's whole state."""

    opening: Observation
    spoken: tuple[Spoken, ...] = ()
    """The customer's opening if a model worded it; empty if the templates did."""
    steps: list[Step] = field(default_factory=list)
    aborted: str | None = None
    """Why the server ended the episode after its last step; None if it did not."""

    @property
    def latest(self) -> Observation:
        """The latest observation."""
        return self.steps[-1].observation if self.steps else self.opening

    @property
    def taken(self) -> int:
        """Number of steps that an agent took."""
        return len(self.steps) - any(step.action is FINISH for step in self.steps[-1:])

    def tool_errors(self, more: Iterable[ToolResult] = ()) -> dict[DomainCode, int]:
        """Return how often the store refused a tool call, by code, in all steps and in the results ``more``."""
        results = chain(chain.from_iterable(step.observation.tool_results for step in self.steps), more)
        codes = [each.code for each in results if each.code is not None]
        # Most episodes have none, and counting nothing takes longer than looking.
        return dict(sorted(Counter(codes).items())) if codes else {}

    def amend(self, observation: Observation, spoken: tuple[Spoken, ...] | None = None) -> Observation:
        """Replace the latest observation and return the new one; ``spoken`` None keeps the recorded words."""
        if self.steps:
            last = self.steps[-1]
            last.observation = observation
            last.spoken = last.spoken if spoken is None else spoken
        else:
            self.opening = observation
            self.spoken = self.spoken if spoken is None else spoken
        return observation

    def messages(self) -> list[Message]:
        """Return the conversation as messages: the customer's words, the agent's actions, the results of tools."""
        messages = [Message(role="user", content=self.opening.user_message)]
        for step in self.steps[: self.taken]:
            messages.append(Message(role="assistant", content=json.dumps(step.action, ensure_ascii=False)))
            results = step.observation.tool_results
            messages += [Message(role="tool", content=each.model_dump_json(exclude_unset=True)) for each in results]
            if step.observation.user_message:
                messages.append(Message(role="user", content=step.observation.user_message))
        return messages
