"""Real shops, and real servers on ports of this machine, made once for every process that runs tests.

No test depends on how busy the machine is: it waits for an event, or lets time pass on a clock that it moves itself.

The server's modules are imported when a test asks for one, so that the client's tests run without any extra.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

    from ecom_rlve.envs.world.shop import Shop


# Servers of tests keep nothing, also those in processes of their own.
os.environ["ECOM_RLVE_STORE"] = "memory"
# Nor do they import Gradio, except where a test wants the page.
os.environ["ECOM_RLVE_WEB"] = "false"

# How long an example takes, and how fast examples are made, is the machine's affair: no deadline, no check of speed.
_ANY_SPEED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fast", _ANY_SPEED, max_examples=50, derandomize=True)
settings.register_profile("slow", _ANY_SPEED, max_examples=2000, print_blob=True)
settings.load_profile("fast")


_PUBLISHED = {0, 3, 6, 9, 12, 20}
"""Difficulties that the fast suite plays where a test plays every one: those of the tables (SPEC §11), and the last."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what plays against the application, so that no test of the client need remember to say so; thin the fast."""
    for item in items:
        if {"live_app", "app_with"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.needs_server)
        if item.get_closest_marker("every_difficulty") and isinstance(item, pytest.Function):
            given = item.callspec.params
            if given.get("d", given.get("difficulty")) not in _PUBLISHED:
                item.add_marker(pytest.mark.slow)


class _Impatient(selectors.DefaultSelector):
    """Lets time pass at once where there is nothing to do but wait."""

    seconds = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(timeout if timeout is None else 0)
        if timeout is not None and not ready:
            self.seconds += timeout
        return ready


class _HurriedLoop(asyncio.SelectorEventLoop):
    """An event loop whose time stands still while anything is to be done, and jumps to what is due next."""

    def __init__(self) -> None:
        self._impatient = _Impatient()
        super().__init__(self._impatient)

    def time(self) -> float:
        return self._impatient.seconds


@pytest.fixture
def hurried() -> Iterator[asyncio.Runner]:
    """Run coroutines that wait, without waiting: what is due first comes first, however busy the machine is.

    Only for what stays in one thread: nobody waits for the work of another, or for an answer from outside.
    """
    with asyncio.Runner(loop_factory=_HurriedLoop) as runner:
        yield runner


@contextmanager
def _listening(config: uvicorn.Config) -> Iterator[str]:
    import uvicorn

    # Whoever connects to an open socket waits until the server takes them: nobody needs to ask when it has started.
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="session")
def listening() -> Callable[[uvicorn.Config], AbstractContextManager[str]]:
    """Return what runs a server on a free port of this machine: ``with listening(config) as url``."""
    return _listening


def _app(tmp_path_factory: pytest.TempPathFactory, **changes: Any) -> FastAPI:
    from ecom_rlve.server.app import create_app
    from ecom_rlve.server.settings import Settings

    chosen = {"catalog": "synthetic:600:0", "cache_dir": tmp_path_factory.mktemp("cache"), "log_level": "warning"}
    return create_app(Settings().model_copy(update=chosen | changes))


@pytest.fixture(scope="session")
def app_with(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., FastAPI]:
    """Return what makes an application of its own with other settings: ``app_with(max_sessions=2)``."""
    return partial(_app, tmp_path_factory)


@pytest.fixture(scope="session")
def live_app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """Return the application itself, to be played in process."""
    return _app(tmp_path_factory)


@pytest.fixture(scope="session")
def live_url(live_app: FastAPI, listening: Callable[[uvicorn.Config], AbstractContextManager[str]]) -> Iterator[str]:
    """Serve the application on a free port of this machine and return its URL."""
    import uvicorn

    with listening(uvicorn.Config(live_app, log_level="warning", ws="none")) as url:
        yield url


@pytest.fixture(scope="session")
def judging_url(
    tmp_path_factory: pytest.TempPathFactory, listening: Callable[[uvicorn.Config], AbstractContextManager[str]]
) -> Iterator[str]:
    """Serve the same catalog to built-in agents that hear acts: the server discloses them."""
    import uvicorn

    app = _app(tmp_path_factory, disclose_acts=True)
    with listening(uvicorn.Config(app, log_level="warning", ws="none")) as url:
        yield url


@pytest.fixture(scope="session")
def shop() -> Shop:
    """Return a shop of 400 procedural products in 50 categories."""
    from ecom_rlve.envs.world.shop import Shop

    return Shop.open("synthetic:400:0")


@pytest.fixture(scope="session")
def wide_shop() -> Shop:
    """Return a shop of 2,000 procedural products, which serves every environment up to d = 12."""
    from ecom_rlve.envs.world.shop import Shop

    return Shop.open("synthetic:2000:0")


@pytest.fixture(scope="session")
def big_shop() -> Shop:
    """Return the default shop: 10,000 procedural products."""
    from ecom_rlve.envs.world.shop import Shop

    return Shop.open("synthetic:10000:0")


@pytest.fixture(scope="session")
def _redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("redis", reason="NOTHING WAS TRIED WITH REDIS: the extra redis is not installed")
    if (program := shutil.which("redis-server")) is None:
        pytest.skip("NOTHING WAS TRIED WITH REDIS: there is no redis-server; apt-get install redis-server")
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    options = {
        "port": port,
        "bind": "127.0.0.1",
        "save": "",
        "appendonly": "no",
        "dir": tmp_path_factory.mktemp("redis"),
    }
    command = [program, *(word for name, value in options.items() for word in (f"--{name}", str(value)))]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()


@pytest.fixture
def redis_url(_redis: str) -> str:
    """Return the address of an empty Redis of this machine; skips loudly where there is none."""
    from redis import Redis
    from redis.backoff import ConstantBackoff
    from redis.exceptions import BusyLoadingError
    from redis.exceptions import ConnectionError as NoConnectionError
    from redis.retry import Retry

    patient = Retry(ConstantBackoff(0.05), 200, supported_errors=(NoConnectionError, BusyLoadingError))
    with closing(Redis.from_url(_redis, retry=patient)) as client:
        client.flushall()
    return _redis
