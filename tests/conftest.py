"""Real shops, and real servers on ports of this machine, made once for every process that runs tests.

The server's modules are imported when a test asks for one, so that the client's tests run without any extra.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

    from ecom_rlve.envs.world.shop import Shop


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


@pytest.fixture(scope="session")
def live_app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """Return the application itself, to be played in process."""
    from ecom_rlve.server.app import create_app
    from ecom_rlve.server.settings import Settings

    chosen = {"catalog": "synthetic:600:0", "cache_dir": tmp_path_factory.mktemp("cache"), "log_level": "warning"}
    return create_app(Settings().model_copy(update=chosen))


@pytest.fixture(scope="session")
def live_url(live_app: FastAPI, listening: Callable[[uvicorn.Config], AbstractContextManager[str]]) -> Iterator[str]:
    """Serve the application on a free port of this machine and return its URL."""
    import uvicorn

    with listening(uvicorn.Config(live_app, log_level="warning", ws="none")) as url:
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
