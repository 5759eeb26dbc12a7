"""Sizes and times of requests, below the application."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from ecom_rlve.evaluation.local_server import server_process

RESET = b"POST /reset HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"


def code(answer: bytes) -> tuple[int, str]:
    """Return status and error code of a raw answer."""
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]["code"]


def health(port: int) -> float:
    """Return the seconds that ``/health`` takes on a new connection."""
    started = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as asking:
        asking.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = asking.recv(1 << 16)
    assert answer.startswith(b"HTTP/1.1 200"), answer[:200]
    return time.monotonic() - started


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 40_000, (431, "PAYLOAD_TOO_LARGE")),
        (b"GET /health HTTP/1.1\r\n" + b"X: 1\r\n" * 101 + b"\r\n", (431, "PAYLOAD_TOO_LARGE")),
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", (414, "PAYLOAD_TOO_LARGE")),
        (b"GET /\xff HTTP/1.1\r\n\r\n", (400, "VALIDATION_ERROR")),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", (400, "VALIDATION_ERROR")),
        (b"GET / HTTP/9.9\r\n\r\n", (400, "VALIDATION_ERROR")),
        (b"GET /health HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", (400, "VALIDATION_ERROR")),
        (b"POST /reset HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nXX\r\n", (400, "VALIDATION_ERROR")),
    ],
)
def test_what_is_too_large_or_no_http_is_refused_at_once(
    server: Any, dial: Any, sent: bytes, expected: tuple[int, str]
) -> None:
    raw = dial(server.port)
    raw.send(sent)
    assert code(raw.all()) == expected
    health(server.port)


def test_the_largest_header_is_read_however_it_is_cut(server: Any, dial: Any) -> None:
    head = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: %b\r\nConnection: close\r\n\r\n"
    whole = head % (b"a" * (32_768 - len(head) + 2))
    for size in (len(whole), 9_999, 1 << 14):
        raw = dial(server.port)
        for start in range(0, len(whole), size):
            raw.send(whole[start : start + size])
        assert raw.all().startswith(b"HTTP/1.1 200")


def test_requests_one_behind_the_other_are_all_answered(server: Any, dial: Any) -> None:
    raw = dial(server.port)
    raw.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 9)
    raw.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert raw.all().count(b"HTTP/1.1 200") == 10


def test_a_body_may_be_far_larger_than_a_header_in_chunks_too(server: Any, dial: Any) -> None:
    filler = b" " * 500_000
    raw = dial(server.port)
    raw.send(b"POST /reset HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
    for start in range(0, len(filler), 1000):
        raw.send(b"3e8\r\n%b\r\n" % filler[start : start + 1000])
    raw.send(b"11\r\n" + b'{"env_id":"CART"}' + b"\r\n0\r\n\r\n")
    answer = raw.all()
    assert answer.startswith(b"HTTP/1.1 200"), answer[:300]


def test_lines_behind_a_body_are_no_headers_and_have_a_limit(server: Any, dial: Any) -> None:
    raw = dial(server.port)
    chunked = b"POST /reset HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    raw.send(chunked + b"1\r\n{\r\n0\r\nX-Trailer: " + b"a" * 2_000_000)
    answer = raw.all()
    assert answer == b"" or code(answer)[0] in (400, 431)
    health(server.port)


def test_who_says_half_is_not_waited_for(serve: Callable[..., Any], dial: Any) -> None:
    server = serve(header_timeout_s=0.2, body_timeout_s=0.2)
    silent, header, body, kept = (dial(server.port) for _ in range(4))
    header.send(b"GET /health HTTP/1.1\r\nX: ")
    body.send(RESET % 100 + b'{"env_id"')
    kept.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /hea")
    assert silent.all() == b""
    assert code(header.all()) == (408, "REQUEST_TIMEOUT")
    assert code(body.all()) == (408, "REQUEST_TIMEOUT")
    assert kept.all().count(b"HTTP/1.1") == 2
    assert server.service.sessions.active == 0


def test_a_half_sent_frame_costs_its_socket_and_frees_the_place(serve: Callable[..., Any]) -> None:
    server = serve(body_timeout_s=0.2)
    with connect(server.ws) as peer, connect(server.ws) as other:
        # A frame of 1,000 masked bytes, of which ten come.
        peer.socket.sendall(b"\x81\xfe\x03\xe8\x00\x00\x00\x00" + b"a" * 10)
        server.until(lambda: server.service.sessions.active == 1)
        other.send('{"type": "state"}')
        assert json.loads(other.recv(timeout=30))["data"]["token"] == "NOT_RESET"


def test_who_does_not_read_answers_is_left(serve: Callable[..., Any], dial: Any) -> None:
    server = serve(write_timeout_s=0.2)
    raw = dial(server.port)
    raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    # An answer of two megabytes, by hundreds of requests for the largest document.
    ask = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    raw.socket.setblocking(False)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            raw.socket.send(ask)
        except BlockingIOError:
            time.sleep(0.05)
        except OSError:
            break
    else:
        pytest.fail("the server waits for ever")
    health(server.port)


def test_one_address_has_so_many_connections_and_may_still_ask_for_health(serve: Callable[..., Any], dial: Any) -> None:
    server = serve(max_connections_per_address=2, max_sessions=50)
    with connect(server.ws), connect(server.ws):
        third = dial(server.port)
        third.send(b"GET /envs HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert code(third.all()) == (503, "CAPACITY_REACHED")
        health(server.port)
    server.until(lambda: server.service.sessions.active == 0)
    again = dial(server.port)
    again.send(b"GET /envs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert again.all().startswith(b"HTTP/1.1 200")


def test_a_trusted_proxy_brings_any_number(serve: Callable[..., Any]) -> None:
    server = serve(max_connections_per_address=1, trusted_proxies=("127.0.0.0/8",))
    with connect(server.ws) as one, connect(server.ws) as two:
        for peer in (one, two):
            peer.send('{"type": "state"}')
            assert "NOT_RESET" in str(peer.recv(timeout=30))


def limited(tmp_path: Path, files: int) -> str:
    """Return a Python under which no more than ``files`` files may be open."""
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\nulimit -n {files}\nexec "{sys.executable}" "$@"\n')
    script.chmod(0o755)
    return str(script)


def knocking(port: int, crowd: int) -> list[socket.socket]:
    """Open connections that say nothing."""
    sockets = []
    for _ in range(crowd):
        knocker = socket.socket()
        knocker.setblocking(False)
        knocker.connect_ex(("127.0.0.1", port))
        sockets.append(knocker)
    return sockets


@pytest.mark.slow
@pytest.mark.parametrize("crowd", [2000, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_health_answers_with_all_places_taken_and_a_crowd_knocking(tmp_path: Path, crowd: int) -> None:
    arguments = ("ecom_rlve.cli", "serve", "--catalog", "synthetic:400:0")
    with server_process(*arguments, python=limited(tmp_path, 300)) as (url, process), ExitStack() as stack:
        port = int(url.rpartition(":")[2])
        ws = f"{url.replace('http', 'ws')}/ws"
        places = httpx.get(f"{url}/metadata").json()["max_sessions"]
        assert 1 < places < 300
        peers = [stack.enter_context(connect(ws)) for _ in range(places)]
        late = stack.enter_context(connect(ws))
        assert "CAPACITY" in str(late.recv(timeout=30))
        for each in knocking(port, crowd):
            stack.callback(each.close)
        took = sorted(health(port) for _ in range(50))
        assert took[-1] < 5
        peers[0].send('{"type": "reset", "data": {"env_id": "CART", "seed": 1, "difficulty": 1}}')
        assert "user_message" in str(peers[0].recv(timeout=30))
        assert len(os.listdir(f"/proc/{process}/fd")) <= 300


@pytest.mark.slow
@pytest.mark.parametrize("size", [64 << 20, pytest.param(1 << 30, marks=pytest.mark.nightly)])
def test_an_endless_header_stalls_nobody(server: Any, size: int) -> None:
    sender = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import socket, sys\n"
            f"peer = socket.create_connection(('127.0.0.1', {server.port}))\n"
            "peer.sendall(b'GET /health HTTP/1.1\\r\\nX: ')\n"
            f"for _ in range({size} >> 20): peer.sendall(b'a' * (1 << 20))\n",
        ],
        stderr=subprocess.DEVNULL,
    )
    took = sorted(health(server.port) for _ in range(50))
    # It was hung up on.
    assert sender.wait(60) != 0
    assert took[-1] < 5
