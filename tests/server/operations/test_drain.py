"""SIGTERM: resets are refused, running steps finished, sockets told, and the end comes in time."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from ecom_rlve.evaluation.local_server import server_process
from ecom_rlve.server.operations.drain import Drain

GRACE_S = 3.0
NEVER_S = 60.0
"""After which a test gives up on a server that should have stopped."""


def test_a_drain_is_over_when_nothing_runs_or_time_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    drain = Drain(8)
    told = [drain.is_over]
    with drain.working():
        drain.begin()
        told.append(drain.is_over)
        now[0] += 5.9
        drain.begin()
        told.append(drain.is_over)
        now[0] += 0.2
        told.append(drain.is_over)
    assert told == [False, False, False, True]
    assert Drain(8).left_s == 8


def test_resets_are_refused_and_steps_answered(http: Any) -> None:
    episode_id = http.reset(env_id="CART")["observation"]["episode_id"]
    http.service.drain.begin()
    refused = http.call("POST", "/reset", json={"env_id": "CART"})
    assert (refused.status_code, refused.json()["error"]["code"], refused.headers["retry-after"]) == (
        503,
        "DRAINING",
        "1",
    )
    assert http.step(episode_id, {}).status_code == 200
    assert http.service.sessions.active == 1


def test_a_drain_waits_for_the_steps_that_run(http: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    episode_id = http.reset(env_id="CART")["observation"]["episode_id"]
    seen = []
    monkeypatch.setattr(http.service._steps, "_count_if_over", lambda _: seen.append(http.service.drain.running))
    http.step(episode_id, {})
    assert (seen, http.service.drain.running) == ([1], 0)


@contextmanager
def draining_server() -> Iterator[tuple[str, int]]:
    """Run a server of its own; yield its URL and its process id."""
    variables = {"ECOM_RLVE_GRACE_S": str(GRACE_S), "ECOM_RLVE_CATALOG": "synthetic:400:0"}
    with server_process("ecom_rlve.cli", "serve", variables=variables) as started:
        yield started


def seconds_until_gone(pid: int, url: str) -> float:
    """Send SIGTERM and return how long nobody could connect any more after that."""
    begun = time.monotonic()
    os.kill(pid, signal.SIGTERM)
    while time.monotonic() < begun + NEVER_S:
        try:
            httpx.get(f"{url}/health", timeout=1)
        except httpx.ConnectError:
            if _is_gone(pid):
                return time.monotonic() - begun
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise AssertionError("the server did not stop")


def _is_gone(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as status:
        return status.read().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.slow
def test_clients_that_hang_cannot_keep_a_server_from_stopping() -> None:
    with draining_server() as (url, pid):
        host, port = "127.0.0.1", int(url.rpartition(":")[2])
        closings: list[int] = []

        def listen() -> None:
            with connect(f"{url.replace('http', 'ws')}/ws") as opened:
                opened.send('{"type":"reset","data":{"env_id":"CART"}}')
                opened.recv()
                ready.set()
                try:
                    opened.recv()
                except ConnectionClosed as closed:
                    closings.append(closed.rcvd.code if closed.rcvd else 0)

        ready = threading.Event()
        listener = threading.Thread(target=listen)
        listener.start()
        assert ready.wait(NEVER_S)
        with socket.create_connection((host, port)) as body, socket.create_connection((host, port)) as header:
            body.sendall(b"POST /reset HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n{")
            header.sendall(b"POST /reset HTTP/1.1\r\nHos")
            assert seconds_until_gone(pid, url) < GRACE_S + 2
        listener.join(NEVER_S)
    assert closings == [1012]


@pytest.mark.slow
def test_a_server_without_work_stops_at_once() -> None:
    with draining_server() as (url, pid):
        httpx.post(f"{url}/reset", json={"env_id": "CART"}).raise_for_status()
        assert seconds_until_gone(pid, url) < GRACE_S / 2
