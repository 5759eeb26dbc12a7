"""The application limits what it can where uvicorn's own protocols serve it, and says which ones would be better."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.responses import PlainTextResponse

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.local_server import server_process
from ecom_rlve.server.admission import by_name
from ecom_rlve.server.admission.listening import limits
from ecom_rlve.server.admission.unguarded import Unguarded
from ecom_rlve.server.app import create_app
from ecom_rlve.server.settings import Settings

Listening = Callable[[uvicorn.Config], AbstractContextManager[str]]
HALF = b"POST /reset HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"


@pytest.fixture(scope="module")
def url(listening: Listening, shop: Shop) -> Iterator[str]:
    """A server with uvicorn's own protocols."""
    app = create_app(Settings(body_timeout_s=0.3), shop=shop, is_lent=True)
    with listening(uvicorn.Config(app, log_config=None)) as url:
        yield url


@contextmanager
def dialled(url: str) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=60) as raw:
        yield raw


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/health", {"X": "a" * 33_000}, 431),
        ("/health", {f"X{number}": "1" for number in range(101)}, 431),
        ("/" + "a" * 9000, {}, 414),
        ("/health?" + "a" * 9000, {}, 414),
        ("/health", {"X": "a" * 8000}, 200),
    ],
)
def test_what_is_too_large_is_refused(url: str, path: str, headers: dict[str, str], status: int) -> None:
    assert httpx.get(url + path, headers=headers).status_code == status


def test_half_a_body_is_not_waited_for(url: str) -> None:
    with dialled(url) as raw:
        raw.sendall(HALF)
        answer = raw.recv(1 << 16)
    assert answer.startswith(b"HTTP/1.1 408")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "REQUEST_TIMEOUT"


def test_a_client_whose_body_has_come_may_wait_as_long_as_it_likes(listening: Listening) -> None:
    async def waiting(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await receive()
            with suppress(TimeoutError):
                # For it to go away, as what streams an answer does.
                await asyncio.wait_for(receive(), 0.5)
            await PlainTextResponse("told")(scope, receive, send)

    app = Unguarded(waiting, limits(Settings(body_timeout_s=0.25)), tells=False)
    with listening(uvicorn.Config(app, log_config=None, lifespan="off")) as url:
        assert httpx.post(url, json={}).text == "told"


def test_the_log_says_once_that_requests_come_unguarded(
    listening: Listening, shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    app = create_app(Settings(), shop=shop, is_lent=True)
    with caplog.at_level(logging.WARNING), listening(uvicorn.Config(app, log_config=None)) as url:
        for _ in range(3):
            httpx.get(f"{url}/health")
    assert [record.getMessage().split()[0] for record in caplog.records] == ["unguarded"]


def test_protocols_that_uvicorn_is_given_by_name_guard(listening: Listening, shop: Shop) -> None:
    app = create_app(Settings(body_timeout_s=0.01), shop=shop, is_lent=True)
    here = "ecom_rlve.server.admission.by_name"
    with listening(uvicorn.Config(app, log_config=None, http=f"{here}:http", ws=f"{here}:ws")) as url:
        with dialled(url) as raw:
            # A header without an end, which uvicorn's own would go on reading.
            raw.sendall(b"GET /health HTTP/1.1\r\nX: " + b"a" * 40_000)
            assert raw.recv(1 << 16).startswith(b"HTTP/1.1 431")
        assert httpx.get(f"{url}/health").status_code == 200
    with pytest.raises(AttributeError):
        _ = by_name.no_such_name


@pytest.mark.slow
def test_uvicorn_serves_the_module_with_limits() -> None:
    variables = {"ECOM_RLVE_CATALOG": "synthetic:400:0"}
    with server_process("uvicorn", "ecom_rlve.server.app:app", variables=variables) as (url, _):
        assert httpx.post(f"{url}/reset", json={"env_id": "CART"}, timeout=60).status_code == 200
        assert httpx.get(f"{url}/health", headers={"X": "a" * 33_000}).status_code == 431
