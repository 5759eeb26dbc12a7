"""Agents that do whatever an agent must not; found by their Python path."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agents import make_expert


class Bad:
    """Does one thing, whatever it is shown."""

    def __init__(self, way: str) -> None:
        self._way = way

    def act(self, result: StepResult) -> Any:
        return WAYS[self._way](result)


class Asynchronous:
    """Waits for ever, politely."""

    async def act(self, _: StepResult) -> Mapping[str, Any]:
        await asyncio.sleep(3600)
        return {}


def _raise(_: StepResult) -> Any:
    raise ValueError("no idea " * 100)


def _stop(_: StepResult) -> Any:
    raise StopIteration


WAYS: dict[str, Any] = {
    "hang": lambda _: time.sleep(30),
    "crash": _raise,
    "stop": _stop,
    "exit": lambda _: sys.exit(3),
    "nothing": lambda _: None,
    "no_json": lambda _: {"assistant_message": {1, 2}},
    "not_a_number": lambda _: {"assistant_message": "x", "answer": {"done": float("nan")}},
    "unknown_field": lambda _: {"message": "hello"},
    "unknown_tool": lambda _: {"tool_calls": [{"name": "fly", "args": {}}]},
    "huge_text": lambda _: "x" * 500_000,
    "huge_action": lambda _: {"assistant_message": "x" * 3_000_000},
    "prose": lambda _: "I would rather not.",
    "same_request": lambda _: {"assistant_message": "Hm.", "metadata": {"request_id": "always-the-same-one"}},
}


def bad(way: str) -> Any:
    """Return a factory of agents that do one thing."""
    return lambda _: Bad(way)


hang, crash, stop, leave, nothing = bad("hang"), bad("crash"), bad("stop"), bad("exit"), bad("nothing")
no_json, not_a_number, unknown_field = bad("no_json"), bad("not_a_number"), bad("unknown_field")
unknown_tool, huge_text, huge_action, prose = bad("unknown_tool"), bad("huge_text"), bad("huge_action"), bad("prose")
same_request = bad("same_request")


def waits(_: str) -> Asynchronous:
    """Return an agent that never answers, without holding a thread."""
    return Asynchronous()


def unmade(_: str) -> Any:
    """Fail in the making."""
    raise RuntimeError("no weights")


def expert(env_id: str) -> Any:
    """Return an agent that does it right."""
    return make_expert(env_id)


number = 7
