"""What happened in an episode, step by step: the one record behind state, trace and replay."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from ecom_rlve.envs.customer.turn import NOTHING_UNDERSTOOD, Understood
from ecom_rlve.envs.customer.voice import Spoken
from ecom_rlve.models import DomainCode, Message, Observation, ToolResult

_READ_AGAIN = 4
"""Latest steps that stay as they are: what the customer says next is worded from three of them."""
FINISH: Mapping[str, Any] = {"finish": True}
"""Stands among the actions for the client's ending the episode. It is known by its identity, and no action that can be
taken has such a field."""
_FAST = 1
"""zlib's level: the others take longer, and results of tools are small with any."""


class _Packed(NamedTuple):
    """A step in few bytes: its objects take some twenty times as many."""

    action: bytes | None
    """Compressed JSON; None for :data:`FINISH`."""
    observation: bytes
    codes: tuple[DomainCode, ...]


class Step:
    """One step. What it holds is the same whether it is packed or not; a packed one takes longer to be read."""

    __slots__ = ("_action", "_observation", "_packed", "spoken", "understood")

    def __init__(
        self, action: Mapping[str, Any], observation: Observation, understood: Understood = NOTHING_UNDERSTOOD
    ) -> None:
        self._action: Mapping[str, Any] | None = action
        self._observation: Observation | None = observation
        self._packed: _Packed | None = None
        self.understood = understood
        """The topics that a model found in the action's questions."""
        self.spoken: tuple[Spoken, ...] = ()
        """The customer's reply if a model worded it; empty if the templates did."""

    @property
    def action(self) -> Mapping[str, Any]:
        """What the agent did."""
        if self._packed is None:
            assert self._action is not None
            return self._action
        if self._packed.action is None:
            return FINISH
        action: dict[str, Any] = json.loads(zlib.decompress(self._packed.action))
        return action

    @property
    def observation(self) -> Observation:
        """What the agent saw then."""
        if self._packed is None:
            assert self._observation is not None
            return self._observation
        return Observation.model_validate_json(zlib.decompress(self._packed.observation))

    @observation.setter
    def observation(self, observation: Observation) -> None:
        self._observation = observation

    @property
    def codes(self) -> tuple[DomainCode, ...]:
        """Why the store refused calls of this step."""
        if self._packed is not None:
            return self._packed.codes
        return tuple(each.code for each in self.observation.tool_results if each.code is not None)

    def pack(self) -> None:
        """Keep this step in few bytes from now on; its observation changes no more."""
        if self._packed is not None:
            return
        action, observation = self.action, self.observation
        self._packed = _Packed(
            None if action is FINISH else zlib.compress(json.dumps(action).encode(), _FAST),
            zlib.compress(observation.model_dump_json(exclude_unset=True).encode(), _FAST),
            self.codes,
        )
        self._action = self._observation = None


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
        codes = [*chain.from_iterable(step.codes for step in self.steps)]
        codes += [each.code for each in more if each.code is not None]
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

    def pack(self) -> None:
        """Keep all but the latest steps in few bytes from now on."""
        for step in self.steps[:-_READ_AGAIN]:
            step.pack()

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
