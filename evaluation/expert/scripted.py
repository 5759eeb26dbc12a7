"""What the experts have in common: hearing acts, noting results, and saying or calling what was decided."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action
from ecom_rlve.evaluation.expert.heard import Heard, acts_of
from ecom_rlve.evaluation.expert.interview import Interview, Topic
from ecom_rlve.evaluation.expert.skill import Skill
from ecom_rlve.models import Observation, ToolResult

Sent = tuple[dict[str, Any], Callable[[ToolResult], None]]
"""A call and what to do with its result."""

_SHORT_TALK = 4
"""Turn budget of the easiest conversations, in which nothing sells out."""


@dataclass(frozen=True, slots=True)
class Move:
    """What to do next."""

    calls: Sequence[Sent] = ()
    topics: Sequence[Topic] = ()
    """What to ask for."""
    message: str = ""
    """What to say, where nothing is asked."""
    answer: dict[str, Any] | None = None
    is_sure: bool = False
    """The customer has something to tell of what is asked for."""


class ScriptedExpert(ABC):
    """Plays one episode; it hears perfectly, and is told nothing but what was said and shown."""

    def __init__(self, skill: Skill | None = None) -> None:
        """``skill`` says what is left undone; absent: nothing."""
        self._skill = skill or Skill()
        self._heard = Heard()
        self._interview = Interview()
        self._sent: Sequence[Sent] = ()
        self._is_fresh = True
        """Nothing was called yet in the open turn."""
        self._most = 0
        """Calls that a turn holds."""
        self._is_long = False
        """Things may sell out after they were seen."""
        self._is_piecemeal = False
        """Calls are made one at a time, and leave the turn open."""

    @abstractmethod
    def _decide(self, room: int, turns_left: int) -> Move:
        """Return what to do next; ``room`` calls can be made."""

    def _begin(self, opening: Observation) -> None:
        """Read what stands in the first observation alone."""
        self._is_long = (opening.max_turns or 0) > _SHORT_TALK

    def act(self, result: StepResult) -> Action:
        """Return the next action."""
        seen = result.observation
        if seen.max_turns is not None:
            self._begin(seen)
        for answer, (_, take) in zip(seen.tool_results, self._sent, strict=False):
            take(answer)
        acts = acts_of(result)
        self._interview.take(acts, self._heard)
        self._heard.hear(acts)
        self._is_piecemeal = result.metadata.style == "tool"
        room = seen.tool_calls_left
        if self._is_piecemeal and seen.turns_left > 1:
            # A tool at a time, a call too many for the open turn opens the next.
            room = max(1, room)
        self._most = max(self._most, seen.tool_calls_left)
        self._is_fresh = seen.tool_calls_left == self._most
        move = self._decide(room, seen.turns_left)
        is_full = self._is_piecemeal and not seen.tool_calls_left
        if move.topics and (is_full or (self._is_fresh and (move.is_sure or self._asks_first(move.topics)))):
            # Without calls it is the customer's turn (SPEC §2.3), and a question closes one that holds no more calls.
            move = Move(topics=move.topics)
        if self._is_piecemeal and move.calls:
            # The rest is decided anew once the result is known.
            self._sent = move.calls[:1]
            return {"tool_calls": [self._sent[0][0]], "end_turn": False}
        self._sent = move.calls
        return self._action(move)

    def _asks_first(self, topics: Sequence[Topic]) -> bool:
        """Tell whether a question goes before the calls that could be made: a tool at a time, if it names something."""
        return self._is_piecemeal and all(topic.name for topic in topics)

    def _action(self, move: Move) -> Action:
        action: Action = {"tool_calls": [made for made, _ in move.calls]}
        message = self._interview.ask(move.topics) if move.topics else move.message
        if message:
            action["assistant_message"] = message
        if move.answer is not None:
            action["answer"] = move.answer
        return action
