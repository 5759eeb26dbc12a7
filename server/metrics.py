"""Figures for an operator, in Prometheus' text format. Each service has its own figures; nothing is global."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ecom_rlve.envs.customer.outcome import Outcome

_LAG_EVERY_S = 0.05
# A border lies at 50 ms, below which 99 of 100 should be.
_LAG_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
# Up to the seconds that a reply waits for its words by default.
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The figures of one service."""

    def __init__(self, live_sessions: Callable[[], int], readable_episodes: Callable[[], int]) -> None:
        """The two functions are called whenever the figures are read."""
        self._registry = CollectorRegistry()
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
        self._gauge("ecom_rlve_live_sessions", "Places taken by sockets and live HTTP episodes", live_sessions)
        self._gauge("ecom_rlve_readable_episodes", "Episodes that can be read, live and ended", readable_episodes)

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
        while True:
            due = clock() + _LAG_EVERY_S
            await asyncio.sleep(_LAG_EVERY_S)
            self._lag.observe(max(0.0, clock() - due))

    def text(self) -> str:
        """Return all figures in Prometheus' text format."""
        return generate_latest(self._registry).decode()

    def _gauge(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        Gauge(name, meaning, registry=self._registry).set_function(read)
