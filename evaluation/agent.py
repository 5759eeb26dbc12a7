"""What an agent is: it turns what it has been shown into its next action."""

from __future__ import annotations

from typing import Any, Protocol

from ecom_rlve.client import StepResult

Action = dict[str, Any]


class Agent(Protocol):
    """One agent in one episode; make a new one for each."""

    def act(self, result: StepResult) -> Action:
        """Return the next action; ``result`` is first the answer to the reset, then to each step."""
        ...


def call(name: str, **args: Any) -> dict[str, Any]:
    """Return one tool call."""
    return {"name": name, "args": {key: value for key, value in args.items() if value is not None}}


def one_at_a_time(action: Action, style: str) -> Action:
    """Return the part of an action that a tool-at-a-time client sends next.

    In style ``tool`` only the first of several calls is sent, and the turn stays open. Then the agent is asked again.
    The last of them closes the turn, unless the action says otherwise.
    """
    calls = action.get("tool_calls") or []
    if style != "tool" or not calls:
        return action
    return {"end_turn": True, **action} if len(calls) == 1 else {"tool_calls": calls[:1], "end_turn": False}
