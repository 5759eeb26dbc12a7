"""A real server over a small procedural catalog, in process and on a port."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from ecom_rlve.envs.customer.voice import Voice
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.app import create_app, server_config
from ecom_rlve.server.settings import Settings


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

    def __init__(self, app: FastAPI, port: int) -> None:
        self.service = app.state.service
        self.port = port
        self.http = f"http://127.0.0.1:{port}"
        self.ws = f"ws://127.0.0.1:{port}/ws"

    def until(self, condition: Callable[[], bool], seconds: float = 5.0) -> None:
        """Wait for something that the server does in its own time."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "the server did not get there in time"
            time.sleep(0.01)


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A small procedural shop."""
    return Shop.open("synthetic:400:0", tmp_path_factory.mktemp("catalog"))


@pytest.fixture
def clock() -> Clock:
    """A clock at zero."""
    return Clock()


@pytest.fixture
def api(shop: Shop, clock: Clock) -> Iterator[Callable[..., Http]]:
    """Make in-process clients of servers with the given settings."""
    with asyncio.Runner() as runner, ExitStack() as stack:

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
def _running(shop: Shop, voice: Voice | None = None, **settings: Any) -> Iterator[Running]:
    chosen = Settings(**settings)
    app = create_app(chosen, shop=shop, voice=voice)
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        server = uvicorn.Server(server_config(app, chosen, log_config=None))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield Running(app, listener.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="session")
def server(shop: Shop) -> Iterator[Running]:
    """A running server with the default settings."""
    with _running(shop) as running:
        yield running


@pytest.fixture
def serve(shop: Shop) -> Iterator[Callable[..., Running]]:
    """Make running servers with the given settings."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(_running(shop, **settings))
