"""What ``ecom-rlve eval`` does: a server, the agent, the folder, progress bars, and a short table at the end."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from ecom_rlve.evaluation.agent import Agent
from ecom_rlve.evaluation.judging.errors import JudgingError, OutputError
from ecom_rlve.evaluation.judging.folder import EPISODES, begin, episodes, failures
from ecom_rlve.evaluation.judging.journal import Journal
from ecom_rlve.evaluation.judging.plan import Plan
from ecom_rlve.evaluation.judging.players.endpoint import CONNECT_S, Budget, Endpoint
from ecom_rlve.evaluation.judging.players.making import hears_acts, kind_of, players_of
from ecom_rlve.evaluation.judging.records import Config, EpisodeLine, FailureLine, ServerStamp, Usage
from ecom_rlve.evaluation.judging.run import Ledger, Place, Run, stamps_of
from ecom_rlve.evaluation.judging.suite import CATALOG
from ecom_rlve.evaluation.listing import listed_at
from ecom_rlve.evaluation.local_server import LocalServerError, local_server
from ecom_rlve.evaluation.oracle import oracles
from ecom_rlve.models import EnvironmentInfo

ALL = "all"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may spend."""

    most_tokens: int | None
    most_cost: float | None
    price_in: float
    price_out: float


@dataclass(frozen=True, slots=True)
class Model:
    """Where a chat model is."""

    url: str
    key: str | None


@dataclass(frozen=True, slots=True)
class Ended:
    """How far a run got."""

    played: int
    planned: int
    failures: list[FailureLine]
    """Those of this process."""
    spent: Usage
    cost: float

    @property
    def is_complete(self) -> bool:
        """Whether every episode is there."""
        return self.played == self.planned


def evaluate(
    folder: Path, plan: Plan, place: Place, *, catalog: str, model: Model, limits: Limits, console: Console
) -> Ended:
    """Play what is left of a plan, and return how far it got.

    Where ``place`` has no address, a server with ``catalog`` is started for as long as this lasts. An empty ``envs`` of
    the plan is all that the server has. Raises :class:`JudgingError` if the run cannot begin, or not go on.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror}") from error
    with ExitStack() as stack:
        if not place.url:
            console.print(f"starting a server with {catalog} …")
            url = stack.enter_context(_own_server(catalog, discloses_acts=hears_acts(plan.agent)))
            place = Place(url, None, place.concurrency, place.patience_s, place.retry_for_s)
        listed, stamp = _server(place)
        plan = _completed(plan, listed, stamp)
        spent = Usage()
        budget = Budget(
            spent,
            most_tokens=limits.most_tokens,
            most_cost=limits.most_cost,
            price_in=limits.price_in,
            price_out=limits.price_out,
        )
        http = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=CONNECT_S), limits=httpx.Limits(max_connections=None)
        )

        def endpoint(name: str) -> Endpoint:
            return Endpoint(
                http, model.url, name, budget, key=model.key, request=plan.request, retry_for_s=place.retry_for_s
            )

        # Before anything is written: a name that means nobody must not claim the folder.
        players = players_of(plan, listed, _oracle(stamp), endpoint)
        told = [listed[env_id] for env_id in plan.envs]
        config = begin(folder, Config(run_id=f"judging-{uuid4().hex}", plan=plan, server=stamp, environments=told))
        failed: list[FailureLine] = []
        with _bars(plan, console) as bars:
            ledger = Ledger(is_spent=lambda: budget.is_spent, on_episode=bars.count, on_failure=failed.append)
            _take_stock(folder, config, ledger, spent)
            asyncio.run(_played(Run(folder, config, place, players, ledger), http))
        return Ended(len(ledger.done), plan.size, failed, spent, budget.cost)


async def _played(run: Run, http: httpx.AsyncClient) -> None:
    async with http:
        await run.play_all()


def _take_stock(folder: Path, config: Config, ledger: Ledger, spent: Usage) -> None:
    """Count what earlier processes played and spent; a torn last line is dropped first."""
    with Journal(folder / EPISODES):
        for line in episodes(folder, config):
            ledger.take(line)
            spent.add(line.usage)
            ledger.stamps = stamps_of(line)
    for failure in failures(folder):
        spent.add(failure.usage)


def _completed(plan: Plan, listed: Mapping[str, EnvironmentInfo], stamp: ServerStamp) -> Plan:
    """Return a plan that names its environments; raises :class:`JudgingError` if the server cannot play it."""
    plan = plan if plan.envs else plan.model_copy(update={"envs": tuple(listed)})
    for env_id in plan.envs:
        if env_id not in listed:
            raise JudgingError(f"no environment {env_id}; there are {', '.join(listed)}")
        most = listed[env_id].max_difficulty
        if most < max(plan.difficulties):
            served = f"up to difficulty {most}" if most >= 0 else "not at all"
            raise JudgingError(f"the server's catalog, {stamp.source}, serves {env_id} {served}")
    if plan.suite and stamp.source != CATALOG:
        raise JudgingError(f"a suite is played with the catalog {CATALOG}, and the server has {stamp.source}")
    return plan


def _server(place: Place) -> tuple[dict[str, EnvironmentInfo], ServerStamp]:
    """Return what a server tells of its environments and of itself."""
    url = place.url.rstrip("/")
    try:
        answer = httpx.get(f"{url}/metadata", headers=place.headers, trust_env=False, timeout=30).raise_for_status()
        told = answer.json()
        catalog = told["catalog"]
        stamp = ServerStamp(version=told["version"], catalog=catalog["fingerprint"], source=catalog["source"])
        return listed_at(url, place.headers), stamp
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise JudgingError(f"no server of environments at {place.url}: {error}") from error
    except (ValueError, LookupError, TypeError, ValidationError) as error:
        raise JudgingError(f"what answers at {place.url} is no server of environments: {error!r}") from error


def _oracle(stamp: ServerStamp) -> Any:
    """Return what makes oracles with the server's catalog, which is opened when the first one is made."""
    made: list[Any] = []

    def make() -> Agent:
        if not made:
            made.append(oracles(stamp.source))
        agent: Agent = made[0]()
        return agent

    return make


@contextmanager
def _own_server(catalog: str, *, discloses_acts: bool) -> Iterator[str]:
    try:
        with local_server("--catalog", catalog, discloses_acts=discloses_acts) as url:
            yield url
    except LocalServerError as error:
        raise JudgingError(str(error)) from error


class _Bars:
    """One bar for each environment, with the share of its episodes that were correct."""

    def __init__(self, plan: Plan, progress: Progress) -> None:
        self._progress = progress
        each = len(plan.difficulties) * plan.episodes * plan.trials
        self._bars: dict[str, TaskID] = {
            env_id: progress.add_task(env_id, total=each, success="") for env_id in plan.envs
        }
        self._counts = dict.fromkeys(plan.envs, (0, 0))

    def count(self, line: EpisodeLine) -> None:
        """Show one episode more."""
        correct, played = self._counts[line.env_id]
        correct, played = correct + line.result.is_correct, played + 1
        self._counts[line.env_id] = correct, played
        self._progress.update(self._bars[line.env_id], advance=1, success=f"{correct / played:.0%} correct")


@contextmanager
def _bars(plan: Plan, console: Console) -> Iterator[_Bars]:
    columns = (
        TextColumn("{task.description:8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[success]:>13}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield _Bars(plan, progress)


def model_at(url: str | None, key: str | None) -> Model:
    """Return where a chat model is: what is given, or what the variables of OpenAI's own clients say."""
    address = url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
    return Model(address, key or os.environ.get("OPENAI_API_KEY"))


def import_from_here() -> None:
    """Let ``python:module:factory`` find modules of the current folder, as ``python -m`` does."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)


def check_style(plan_style: str | None, agent: str, calls: str) -> str:
    """Return the style that an agent plays in; raises :class:`JudgingError` if it cannot play in the one given."""
    is_chat = kind_of(agent) == "openai" and calls == "native"
    if is_chat and plan_style == "turn":
        raise JudgingError("native tool calls are played in style tool; for style turn choose --calls text")
    return plan_style or ("tool" if is_chat else "turn")


stderr = partial(Console, stderr=True, highlight=False)
