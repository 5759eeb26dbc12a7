"""Real shops, and a real server on a small procedural catalog, for tests that play over HTTP.

The server's modules are imported when a test asks for one, so that the client's tests run without any extra.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from fastapi import FastAPI

    from ecom_rlve.envs.world.shop import Shop

START_TIMEOUT_S = 20


def _app(tmp_path_factory: pytest.TempPathFactory, **changes: Any) -> FastAPI:
    from ecom_rlve.server.app import create_app
    from ecom_rlve.server.settings import Settings

    chosen = {"catalog": "synthetic:600:0", "cache_dir": tmp_path_factory.mktemp("cache"), "log_level": "warning"}
    return create_app(Settings().model_copy(update=chosen | changes))


@contextmanager
def _served(app: FastAPI) -> Iterator[str]:
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    deadline = time.monotonic() + START_TIMEOUT_S
    while not server.started:
        assert thread.is_alive(), "the server ended"
        assert time.monotonic() < deadline, "the server did not start in time"
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="session")
def live_app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """Return the application itself, to be played in process."""
    return _app(tmp_path_factory)


@pytest.fixture(scope="session")
def live_url(live_app: FastAPI) -> Iterator[str]:
    """Serve the application on a free port of this machine and return its URL."""
    with _served(live_app) as url:
        yield url


@pytest.fixture(scope="session")
def judging_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the same catalog to built-in agents that listen: the customer's acts are disclosed."""
    with _served(_app(tmp_path_factory, disclose_acts=True)) as url:
        yield url


@pytest.fixture(scope="session")
def shop() -> Shop:
    """Return a shop of 400 procedural products in 50 categories."""
    from ecom_rlve.envs.world.shop import Shop

    return Shop.open("synthetic:400:0")


@pytest.fixture(scope="session")
def big_shop() -> Shop:
    """Return the default shop: 10,000 procedural products."""
    from ecom_rlve.envs.world.shop import Shop

    return Shop.open("synthetic:10000:0")
