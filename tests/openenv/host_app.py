"""OpenEnv's own server around our environments: ``uvicorn --factory host_app:create_app``."""

from __future__ import annotations

from typing import Any

from openenv.core.env_server import http_server

from ecom_rlve.server.openenv.environment import ShopAction, ShopEnvironment, ShopObservation, ShopState
from ecom_rlve.server.openenv.hosting import hosted


def create_app() -> Any:
    """Build the server, with a route more that tells how many places of ours are taken."""
    app = http_server.create_app(
        ShopEnvironment, ShopAction, ShopObservation, env_name="shop", state_cls=ShopState, max_concurrent_envs=64
    )
    app.add_api_route("/places", lambda: hosted().service.sessions.active)
    return app
