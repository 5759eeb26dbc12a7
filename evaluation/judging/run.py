"""A run: every episode of a plan that is not written down yet, many at once, each line saved before it counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from ecom_rlve.client import (
    AsyncEcomEnv,
    CapacityError,
    EcomEnvError,
    InfrastructureError,
    ServerUnavailableError,
    StepResult,
    UnexpectedAnswerError,
    UnservableError,
)
from ecom_rlve.client.batch import Failed, Played
from ecom_rlve.evaluation.judging.errors import JudgingError, ResultsError, RunStoppedError
from ecom_rlve.evaluation.judging.folder import EPISODES, FAILURES
from ecom_rlve.evaluation.judging.journal import Journal
from ecom_rlve.evaluation.judging.plan import Task, tasks_of
from ecom_rlve.evaluation.judging.players.player import AgentUnavailableError, Players, SpentError
from ecom_rlve.evaluation.judging.playing import line_of, play, reset_of, trace_path
from ecom_rlve.evaluation.judging.records import Config, EpisodeLine, FailureLine, Usage

INFRASTRUCTURE = (
    AgentUnavailableError,
    CapacityError,
    InfrastructureError,
    ServerUnavailableError,
    UnexpectedAnswerError,
)
_TRACE_TRIES = 5
_FAILURES_IN_A_ROW = 10
"""So many failures beyond those that are under way, with no episode between them, are no coincidence."""

Stamps = tuple[str, str, str]
"""Catalog, bank and simulator of an episode: those of a run are all alike."""


class UnplayedError(Exception):
    """An episode was left without a result; holds why, and what the agent had used up."""

    def __init__(self, cause: Exception, usage: Usage) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.usage = usage


@dataclass(frozen=True, slots=True)
class Place:
    """Where episodes are played, and how."""

    url: str
    token: str | None = None
    concurrency: int = 8
    patience_s: float = 120.0
    """Seconds that an agent has for one action."""
    retry_for_s: float = 60.0
    """Seconds for which a server that does not answer is asked again."""

    @property
    def headers(self) -> dict[str, str]:
        """Headers of every request to the server."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


@dataclass(slots=True)
class Ledger:
    """What a run knows of the episodes before, and whom it tells of each new line once that is saved."""

    done: set[Task] = field(default_factory=set)
    stamps: Stamps | None = None
    is_spent: Callable[[], bool] = lambda: False
    """Whether the run has used up what it may."""
    on_episode: Callable[[EpisodeLine], None] = lambda _: None
    on_failure: Callable[[FailureLine], None] = lambda _: None

    def take(self, line: EpisodeLine) -> None:
        """Count an episode that is saved, in this run or in one before."""
        self.done.add(line.task)
        self.stamps = stamps_of(line)
        self.on_episode(line)


def stamps_of(line: EpisodeLine) -> Stamps:
    """Return what must be alike in all episodes of a run."""
    return line.catalog, line.bank, line.simulator


class Run:
    """One process's part of a run."""

    def __init__(self, folder: Path, config: Config, place: Place, players: Players, ledger: Ledger) -> None:
        self._config = config
        self._place = place
        self._players = players
        self._ledger = ledger
        self._folder = folder
        self._tasks: dict[str, Task] = {}
        self._failed_in_a_row = 0

    async def play_all(self) -> None:
        """Play every episode of the plan that is not done yet.

        Raises :class:`OutputError` if a line cannot be saved, :class:`RunStoppedError` if going on makes no sense, and
        :class:`JudgingError` where the agent or the server cannot play what the plan says.
        """
        async with AsyncExitStack() as stack:
            episodes = stack.enter_context(Journal(self._folder / EPISODES))
            failures = stack.enter_context(Journal(self._folder / FAILURES))
            http = await stack.enter_async_context(httpx.AsyncClient(trust_env=False, headers=self._place.headers))
            await self._end_orphans(http)
            env = AsyncEcomEnv(self._place.url, token=self._place.token, retry_for=self._place.retry_for_s)
            stack.push_async_callback(env.close)

            async def one(env: AsyncEcomEnv, first: StepResult) -> EpisodeLine:
                return await self._played(env, first, http)

            outcomes = await stack.enter_async_context(
                aclosing(env.batch(self._resets(), one, concurrency=self._place.concurrency))
            )
            async for outcome in outcomes:
                match outcome:
                    case Played(value=line):
                        self._keep(line, episodes)
                    case Failed(spec=spec, error=error):
                        self._note(self._tasks.pop(spec["episode_id"]), error, failures)

    def _resets(self) -> Iterator[dict[str, Any]]:
        """Yield the resets of all that is left, until the run has used up what it may."""
        for task in tasks_of(self._config.plan):
            if self._ledger.is_spent():
                return
            if task not in self._ledger.done:
                episode_id = uuid4().hex
                self._tasks[episode_id] = task
                yield {**reset_of(self._config.plan, task, self._config.run_id), "episode_id": episode_id}

    async def _end_orphans(self, http: httpx.AsyncClient) -> None:
        """End the episodes that a killed process left behind at the server; their places are needed."""
        url = f"{self._place.url.rstrip('/')}/episodes"
        try:
            await http.delete(url, params={"run_id": self._config.run_id}, timeout=30)
        except httpx.RequestError as error:
            raise RunStoppedError(f"no answer from {url}: {str(error) or type(error).__name__}") from error

    async def _played(self, env: AsyncEcomEnv, first: StepResult, http: httpx.AsyncClient) -> EpisodeLine:
        task = self._tasks[first.observation.episode_id]
        player = self._players.make(task.env_id, task.seed, task.trial)
        try:
            ended, fault = await play(env, first, player, self._place.patience_s)
            trace = await self._trace(http, ended.observation.episode_id)
        except Exception as error:
            raise UnplayedError(error, player.usage) from error
        return line_of(task, player, ended, fault, trace)

    async def _trace(self, http: httpx.AsyncClient, episode_id: str) -> str:
        """Return the trace of an episode that has ended; raises :class:`ServerUnavailableError` if there is none."""
        url, said = f"{self._place.url.rstrip('/')}{trace_path(episode_id)}", ""
        for attempt in range(_TRACE_TRIES):
            await asyncio.sleep(attempt)
            try:
                answer = await http.get(url, timeout=30)
            except httpx.RequestError as error:
                said = str(error) or type(error).__name__
                continue
            if answer.is_success:
                return answer.text
            said = f"HTTP {answer.status_code}"
        raise ServerUnavailableError(f"no trace of the episode from {url}: {said}")

    def _keep(self, line: EpisodeLine, episodes: Journal) -> None:
        known = self._ledger.stamps
        if known is not None and stamps_of(line) != known:
            raise ResultsError(
                f"the server changed while the run went on: catalog, bank and customer were {known} and are "
                f"{stamps_of(line)}; name another folder"
            )
        episodes.append(line.model_dump_json())
        self._failed_in_a_row = 0
        self._ledger.take(line)

    def _note(self, task: Task, error: Exception, failures: Journal) -> None:
        cause, usage = (error.cause, error.usage) if isinstance(error, UnplayedError) else (error, Usage())
        failure = _failure(task, cause, usage)
        failures.append(failure.model_dump_json())
        self._ledger.on_failure(failure)
        self._failed_in_a_row += failure.kind == "infrastructure"
        if self._failed_in_a_row >= _FAILURES_IN_A_ROW + self._place.concurrency:
            raise RunStoppedError(f"{self._failed_in_a_row} episodes in a row failed, the last with: {failure.message}")


def _failure(task: Task, cause: Exception, usage: Usage) -> FailureLine:
    """Return the line of an episode without a result; raises what is no failure of one episode."""
    about = {**task._asdict(), "usage": usage, "message": f"{type(cause).__name__}: {cause}"[:500]}
    if isinstance(cause, SpentError):
        return FailureLine(**about, kind="capped")
    if isinstance(cause, INFRASTRUCTURE):
        return FailureLine(**about, kind="infrastructure")
    if isinstance(cause, UnservableError):
        return FailureLine(**about, kind="unservable")
    if isinstance(cause, EcomEnvError):
        raise JudgingError(f"{task}: {cause}") from cause
    raise cause
