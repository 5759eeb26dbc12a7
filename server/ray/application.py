"""``serve run ecom_rlve.server.ray.application:application``: replicas that share a store in Redis.

Each replica is a whole server, with settings from the environment like any other. Any of them answers for any episode.
Arguments are given as ``name=value``; they are those of :class:`~ecom_rlve.server.ray.scale.Scale`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import FastAPI
from ray import serve

from ecom_rlve.server.app import create_app
from ecom_rlve.server.ray.scale import Scale, replicas_wanted
from ecom_rlve.server.settings import Settings
from ecom_rlve.server.store.errors import StoreError

LIVE = "live_episodes"
"""Name of the figure that replicas tell and that their number follows."""


@cache
def server() -> FastAPI:
    """Build the server of this replica's process, once.

    Raises:
        StoreError: the settings name no store that replicas can share.
    """
    settings = Settings()
    if settings.store_url is None:
        raise StoreError("replicas share episodes through Redis: set ECOM_RLVE_STORE to redis://HOST:PORT/NUMBER")
    return create_app(settings)


class Policy:
    """Follows the live episodes; Ray Serve makes one with the arguments that its configuration holds."""

    def __init__(self, live_each: int) -> None:
        self._live_each = live_each

    def __call__(self, context: Any) -> tuple[int, dict[str, Any]]:
        """Return how many replicas there should be, and what Ray Serve keeps for the next call: nothing."""
        told = context.aggregated_metrics.get(LIVE, {})
        bounds = (context.capacity_adjusted_min_replicas, context.capacity_adjusted_max_replicas)
        return replicas_wanted(told.values(), self._live_each, *bounds), {}


def build() -> FastAPI:
    """Return the server. Ray Serve takes a plain function for what makes an application, and nothing else."""
    return server()


@serve.ingress(build)
class Replica:
    """One server."""

    def record_autoscaling_stats(self) -> dict[str, float]:
        """Tell what the number of replicas follows."""
        return {LIVE: float(server().state.service.sessions.here)}


def application(arguments: dict[str, str]) -> Any:
    """Return the application for ``serve run``; raises pydantic's ValidationError for an argument that it lacks."""
    scale = Scale.model_validate(arguments)
    deployment = serve.deployment(
        Replica,
        name="server",
        ray_actor_options={"num_cpus": scale.cpus},
        # Steps wait for models and journals, not for processors.
        max_ongoing_requests=10_000,
        graceful_shutdown_timeout_s=30,
        autoscaling_config={
            "min_replicas": scale.least,
            "max_replicas": scale.most,
            "upscale_delay_s": 0,
            "downscale_delay_s": scale.down_after_s,
            "policy": {"policy_function": f"{__name__}:Policy", "policy_kwargs": {"live_each": scale.live_each}},
        },
    )
    return deployment.bind()
