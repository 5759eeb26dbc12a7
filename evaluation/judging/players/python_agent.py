"""Agents of other people, found by a Python path: whatever they do, the run goes on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.judging.errors import JudgingError
from ecom_rlve.evaluation.judging.players.player import AgentFaultError
from ecom_rlve.evaluation.judging.players.threads import in_thread
from ecom_rlve.evaluation.judging.records import Usage


class PythonPlayer:
    """One agent in one episode; made when it is first asked, so that a fault in its making is its own."""

    def __init__(self, factory: Callable[[str], Any], env_id: str) -> None:
        self.usage = Usage()
        self._make = partial(factory, env_id)
        self._agent: Any = None

    async def act(self, result: StepResult) -> Mapping[str, Any] | str:
        """Return the agent's action; raises :class:`AgentFaultError` for whatever it raises, and for no action."""
        try:
            if self._agent is None:
                self._agent = await in_thread(self._make)
            if inspect.iscoroutinefunction(self._agent.act):
                action = await self._agent.act(result)
            else:
                action = await in_thread(partial(self._agent.act, result))
        except Exception as error:
            raise AgentFaultError("crash", f"{type(error).__name__}: {error}") from error
        if not isinstance(action, Mapping | str):
            raise AgentFaultError("unreadable", f"act returned {type(action).__name__}, neither a mapping nor a str")
        return action


class PythonPlayers:
    """The agents that a factory makes: ``factory(env_id)`` returns one with ``act(result)``, plain or ``async``."""

    def __init__(self, path: str) -> None:
        """``path`` is ``module:factory``; raises :class:`JudgingError` if it names nothing that can be called."""
        module, colon, name = path.partition(":")
        if not (module and colon and name):
            raise JudgingError(f"python:{path} names no factory; write python:module:factory")
        try:
            found: Any = import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except Exception as error:
            raise JudgingError(f"python:{path} cannot be imported: {type(error).__name__}: {error}") from error
        if not callable(found):
            raise JudgingError(f"python:{path} is a {type(found).__name__} and cannot be called")
        self._factory: Callable[[str], Any] = found

    def make(self, env_id: str, seed: int, trial: int) -> PythonPlayer:  # noqa: ARG002 - an agent is not told them
        """Return a new player."""
        return PythonPlayer(self._factory, env_id)
