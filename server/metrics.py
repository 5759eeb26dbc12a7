"""Figures for an operator, in Prometheus' text format. Each service has its own; workers of one server add theirs up.

Every label has a bounded number of values: environments, codes and reasons are closed sets, and of the runs, whose
names are the clients', the first :data:`MOST_RUNS` are told apart.
"""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import count
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

import ecom_rlve
from ecom_rlve.envs.customer.outcome import Outcome
from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.episode.reward import FINISHED
from ecom_rlve.models import ToolResult
from ecom_rlve.run_models import FrontierState
from ecom_rlve.server.operations.process_figures import ProcessFigures
from ecom_rlve.server.operations.request_figures import RequestFigures
from ecom_rlve.server.operations.shared_figures import is_shared, shared_registry

_LAG_EVERY_S = 0.05
_SAMPLE_EVERY = 40
"""Gauges are read when the figures are; where other workers tell them, every so many measurements of the lag."""
# A border lies at 50 ms, below which 99 of 100 should be.
_LAG_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
# Up to the seconds that a reply waits for its words by default.
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
# -1 is a format failure, or nothing right at all.
_SEARCH_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_COMMIT_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.0, 10.0)
_REWARDS = (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
MOST_RUNS = 32
"""Runs that have figures of their own: the first ones that the server met."""
OTHER_RUNS = "other"
"""Stands for all later runs."""
_ENDED_BY_CLIENT, _INFRA_ERROR, _DROPPED = "finished", "infra_error", "dropped"
"""Why episodes end, beside the terminations of a result: the client finished it; a fault of ours ended it; it was
deleted, expired, or left by its socket."""

GaugeMode = Literal["livesum", "livemax"]
Frontiers = Callable[[Collection[str]], Iterable[tuple[str, FrontierState]]]
"""Returns run and frontier, for those of the named runs that there are."""


class Tally:
    """The figures of one environment in one run. They are looked up once, which costs more than counting."""

    __slots__ = ("_begun", "_endings", "_figures", "_labels", "_rewards", "_steps", "_tools")

    def __init__(self, figures: EpisodeFigures, env_id: str, run: str) -> None:
        self._figures = figures
        self._labels = (env_id, run)
        self._begun = figures.resets.labels(env_id, run)
        self._endings: dict[str, Counter] = {}
        self._rewards = figures.rewards.labels(env_id, run)
        self._steps = figures.steps.labels(env_id, run)
        self._tools: dict[str, Counter] = {}

    def begin(self) -> None:
        """Count a reset."""
        self._begun.inc()

    def count_step(self, results: Iterable[ToolResult] = ()) -> None:
        """Count a step that was applied, and the tools that it called."""
        self._steps.inc()
        for each in results:
            tool = self._tools.get(each.name)
            if tool is None:
                tool = self._tools[each.name] = self._figures.tool_calls.labels(self._labels[0], each.name)
            tool.inc()

    def end(self, episode: Episode) -> None:
        """Count how an episode ended; a live one is dropped."""
        figures, labels, result = self._figures, self._labels, episode.result
        reason = _ending(episode)
        if reason not in self._endings:
            self._endings[reason] = figures.endings.labels(*labels, reason)
        self._endings[reason].inc()
        difficulty = str(episode.spec.difficulty)
        figures.episodes.labels(labels[0], difficulty, _outcome(episode)).inc()
        if result is not None:
            self._rewards.observe(result.r_total)
        if episode.format_fault is not None:
            figures.format_failures.labels(*labels, episode.format_fault.value).inc()
        errors = episode.log.tool_errors() if result is None else result.tool_errors
        for code, times in errors.items():
            figures.tool_errors.labels(*labels, code.value).inc(times)


class EpisodeFigures:
    """What episodes come to, by environment and run."""

    def __init__(self, registry: CollectorRegistry, frontiers: Frontiers) -> None:
        labels = ("env", "run")
        self.resets = Counter("ecom_rlve_resets", "Episodes begun", labels, registry=registry)
        self.steps = Counter("ecom_rlve_steps", "Steps applied", labels, registry=registry)
        self.endings = Counter("ecom_rlve_endings", "Episodes ended, by reason", (*labels, "reason"), registry=registry)
        self.episodes = Counter(
            "ecom_rlve_episodes",
            "Episodes ended, by difficulty and outcome",
            ["env", "difficulty", "outcome"],
            registry=registry,
        )
        self.tool_calls = Counter("ecom_rlve_tool_calls", "Tool calls carried out", ["env", "tool"], registry=registry)
        self.rewards = Histogram(
            "ecom_rlve_reward", "Total rewards of ended episodes", labels, buckets=_REWARDS, registry=registry
        )
        self.format_failures = Counter(
            "ecom_rlve_format_failures", "Format failures, by kind of mistake", (*labels, "reason"), registry=registry
        )
        self.tool_errors = Counter(
            "ecom_rlve_tool_errors", "Tool results with an error, by code", (*labels, "code"), registry=registry
        )
        self._runs: dict[str, None] = {}
        self._tallies: dict[tuple[str, str], Tally] = {}
        self.frontiers = _FrontierGauge(lambda: frontiers(self._runs))
        """Not in the registry: every worker can tell them all."""

    def tally(self, env_id: str, run_id: str) -> Tally:
        """Return the figures of an environment in a run."""
        if run_id not in self._runs and len(self._runs) < MOST_RUNS:
            self._runs[run_id] = None
        key = (env_id, run_id if run_id in self._runs else OTHER_RUNS)
        if key not in self._tallies:
            self._tallies[key] = Tally(self, *key)
        return self._tallies[key]


class _FrontierGauge(Collector):
    """Reads the frontiers whenever the figures are read."""

    def __init__(self, read: Callable[[], Iterable[tuple[str, FrontierState]]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges with the frontiers as they are now."""
        names = ("env", "run", "style", "format")
        levels = GaugeMetricFamily("ecom_rlve_frontier", "Highest difficulty that the curriculum draws", labels=names)
        waiting = "Seeds at the frontier that wait for the next gate"
        ready = GaugeMetricFamily("ecom_rlve_ready_seeds", waiting, labels=names)
        for run_id, frontier in self._read():
            labels = (frontier.env_id, run_id, frontier.style, frontier.format)
            levels.add_metric(labels, frontier.level)
            ready.add_metric(labels, frontier.ready_seeds)
        yield from (levels, ready)


def _ending(episode: Episode) -> str:
    if not episode.done:
        return _DROPPED
    if episode.result is None:
        return _INFRA_ERROR
    return _ENDED_BY_CLIENT if episode.result.reason == FINISHED else episode.result.termination.value


def _outcome(episode: Episode) -> str:
    if not episode.done:
        return _DROPPED
    if episode.result is None:
        return _INFRA_ERROR
    return "correct" if episode.result.is_correct else "incorrect"


class Metrics:
    """The figures of one service."""

    def __init__(
        self, live_sessions: Callable[[], int], readable_episodes: Callable[[], int], frontiers: Frontiers
    ) -> None:
        """The functions are called whenever the figures are read."""
        self._registry = CollectorRegistry()
        self._gauges: list[tuple[Gauge, Callable[[], float]]] = []
        self.episodes = EpisodeFigures(self._registry, frontiers)
        self.requests = RequestFigures(self._registry)
        self._process = ProcessFigures(self._registry)
        self._wordings = Counter(
            "ecom_rlve_wordings",
            "Customer's utterances by how their words came about",
            ["outcome"],
            registry=self._registry,
        )
        self._infra_errors = Counter(
            "ecom_rlve_infra_errors", "Episodes and resets lost to an infrastructure failure", registry=self._registry
        )
        self._latency = Histogram(
            "ecom_rlve_model_request_seconds",
            "Seconds from a request to the customer's model to its answer or failure",
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._lag = Histogram(
            "ecom_rlve_event_loop_lag_seconds",
            "Seconds by which a waiting request is served late because another one is being worked on",
            buckets=_LAG_SECONDS,
            registry=self._registry,
        )
        self._searches = Histogram(
            "ecom_rlve_search_seconds",
            "Seconds of applying an action that may search the catalog, with the wait for a thread",
            buckets=_SEARCH_SECONDS,
            registry=self._registry,
        )
        self._commits = Histogram(
            "ecom_rlve_journal_commit_seconds",
            "Seconds from a step's being handed to the journal until it is kept there",
            buckets=_COMMIT_SECONDS,
            registry=self._registry,
        )
        self._expiries = Counter(
            "ecom_rlve_expiries", "Episodes forgotten because nobody used them", registry=self._registry
        )
        self._gauge(
            "ecom_rlve_live_sessions",
            "Places taken by sockets and live HTTP episodes, here and on servers that share the store",
            live_sessions,
            "livemax",
        )
        self._gauge("ecom_rlve_readable_episodes", "Episodes that can be read, live and ended", readable_episodes)

    def tell_build(self, fingerprint: str, size: int) -> None:
        """Show what runs here: a gauge that is always 1, with what it is in its labels."""
        facts = {"version": ecom_rlve.__version__, "python": platform.python_version(), "catalog": fingerprint}
        made = Gauge(
            "ecom_rlve_build_info",
            "1, with version, Python and catalog",
            list(facts),
            registry=self._registry,
            multiprocess_mode="livemax",
        )
        made.labels(**facts).set(1)
        self._gauge("ecom_rlve_catalog_products", "Products in the catalog", lambda: size, "livemax")

    def watch_places(self, most: Callable[[], int]) -> None:
        """Show how many places there are."""
        self._gauge("ecom_rlve_places", "Places for sockets and live HTTP episodes", most, "livemax")

    def watch_held(self, here: Callable[[], int]) -> None:
        """Show how many places this process' own sockets and episodes take."""
        self._gauge("ecom_rlve_held_sessions", "Sockets, and live HTTP episodes in memory", here)

    def watch_drain(self, has_begun: Callable[[], bool]) -> None:
        """Show how many servers are about to stop."""
        self._gauge("ecom_rlve_draining", "1 while resets are refused because the server stops", has_begun)

    def watch_journal(self, waiting: Callable[[], int]) -> None:
        """Show how many steps wait to be kept in the journal."""
        self._gauge("ecom_rlve_journal_waiting", "Steps that wait for the journal", waiting)

    def observe_commit(self, seconds: float) -> None:
        """Count a step that the journal keeps now."""
        self._commits.observe(seconds)

    def observe_search(self, seconds: float) -> None:
        """Count an action that may have searched the catalog."""
        self._searches.observe(seconds)

    def count_expiries(self, episodes: int) -> None:
        """Count episodes that nobody used any more."""
        self._expiries.inc(episodes)

    def watch_breaker(self, is_open: Callable[[], bool]) -> None:
        """Show whether the customer's model is not asked at present, after repeated failures."""
        self._gauge("ecom_rlve_model_breaker_open", "1 while the model is left alone after failures", is_open)

    def count_wording(self, outcome: Outcome) -> None:
        """Count a message of a customer by where its words came from."""
        self._wordings.labels(outcome.value).inc()

    def count_infra_error(self) -> None:
        """Count an episode, or a reset, that was lost."""
        self._infra_errors.inc()

    def observe_request(self, seconds: float) -> None:
        """Count a request to the model."""
        self._latency.observe(seconds)

    async def watch_lag(self) -> None:
        """Measure the event loop's lag until cancelled."""
        clock = asyncio.get_running_loop().time
        for number in count():
            due = clock() + _LAG_EVERY_S
            await asyncio.sleep(_LAG_EVERY_S)
            self._lag.observe(max(0.0, clock() - due))
            if is_shared() and number % _SAMPLE_EVERY == 0:
                self._sample()

    def text(self) -> str:
        """Return all figures in Prometheus' text format; of all workers, where they share theirs."""
        self._sample()
        own = self.episodes.frontiers
        if is_shared():
            return generate_latest(shared_registry(own)).decode()
        return (generate_latest(self._registry) + generate_latest(own)).decode()

    def _sample(self) -> None:
        """Bring the gauges up to date."""
        self._process.sample()
        for gauge, read in self._gauges:
            gauge.set(read())

    def _gauge(self, name: str, meaning: str, read: Callable[[], float], mode: GaugeMode = "livesum") -> None:
        """Show what ``read`` returns; ``mode`` says how the values of workers become one."""
        gauge = Gauge(name, meaning, registry=self._registry, multiprocess_mode=mode)
        self._gauges.append((gauge, read))
