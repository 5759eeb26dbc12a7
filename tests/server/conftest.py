"""A real server over a small procedural catalog, in process and on a port."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from ecom_rlve.envs.customer.voice import Voice
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.app import create_app, server_config
from ecom_rlve.server.settings import Settings

Listening = Callable[[uvicorn.Config], AbstractContextManager[str]]
NEVER_S = 120.0
"""After which a test gives up on what a server should have done; what it does takes no part of it."""


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Http:
    """A client that plays the app in process."""

    def __init__(self, app: FastAPI, runner: asyncio.Runner) -> None:
        self.service = app.state.service
        self._runner = runner
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://shop")

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send one request."""
        return self._runner.run(self._client.request(method, path, **options))

    def together(self, *requests: tuple[str, str, Any]) -> list[httpx.Response]:
        """Send requests (method, path, JSON body) at the same time."""

        async def gathered() -> list[httpx.Response]:
            calls = (self._client.request(method, path, json=body) for method, path, body in requests)
            return list(await asyncio.gather(*calls))

        return self._runner.run(gathered())

    def reset(self, **body: Any) -> Any:
        """Start an episode and return its answer."""
        answer = self.call("POST", "/reset", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def step(self, episode_id: str, action: Any, **more: Any) -> httpx.Response:
        """Take one step."""
        return self.call("POST", "/step", json={"episode_id": episode_id, "action": action, **more})

    def state(self, episode_id: str) -> Any:
        """Return the conversation."""
        return self.call("GET", "/state", params={"episode_id": episode_id}).json()


class Running:
    """A server on a port of this machine."""

    def __init__(self, app: FastAPI, url: str) -> None:
        self.service = app.state.service
        self.port = int(url.rpartition(":")[2])
        self.http = url
        self.ws = f"{url.replace('http', 'ws')}/ws"

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that the server does in its own time."""
        deadline = time.monotonic() + NEVER_S
        while not condition():
            assert time.monotonic() < deadline, "the server did not get there in time"
            time.sleep(0.01)


@pytest.fixture
def clock() -> Clock:
    """A clock at zero."""
    return Clock()


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    """The event loop of the servers in process; in its place another test module may put one of its own."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def api(shop: Shop, clock: Clock, runner: asyncio.Runner) -> Iterator[Callable[..., Http]]:
    """Make in-process clients of servers with the given settings."""
    with ExitStack() as stack:

        def made(voice: Voice | None = None, **settings: Any) -> Http:
            http = Http(create_app(Settings(**settings), shop=shop, now=clock, voice=voice), runner)
            stack.callback(lambda: runner.run(http.service.aclose()))
            return http

        yield made


@pytest.fixture
def http(api: Callable[..., Http]) -> Http:
    """An in-process client of a server with the default settings."""
    return api()


@contextmanager
def _running(listening: Listening, shop: Shop, **settings: Any) -> Iterator[Running]:
    chosen = Settings(**settings)
    app = create_app(chosen, shop=shop)
    with listening(server_config(app, chosen, log_config=None)) as url:
        yield Running(app, url)


@pytest.fixture(scope="session")
def server(listening: Listening, shop: Shop) -> Iterator[Running]:
    """A running server with the default settings."""
    with _running(listening, shop) as running:
        yield running


@pytest.fixture
def serve(listening: Listening, shop: Shop) -> Iterator[Callable[..., Running]]:
    """Make running servers with the given settings."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(_running(listening, shop, **settings))
