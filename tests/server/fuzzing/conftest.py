"""A server in a process of its own, watched while it is fuzzed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

_START_S, _EMPTY_S = 120.0, 120.0
_PROBE_EVERY_S = 0.05
MOST_S = 0.25
"""``/health`` is answered in so many seconds, 99 times of 100, besides what other programs keep the processor for."""
_ASK = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


class Fuzzed:
    """A running server, and how it feels."""

    def __init__(self, port: int, process: int, output: Path) -> None:
        self.port = port
        self._process = process
        self.url = f"http://127.0.0.1:{port}"
        self.ws = f"ws://127.0.0.1:{port}/ws"
        self._output = output
        self._took: list[float] = []
        self._stop = threading.Event()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Ask for its health all the time inside the block; at the end check what it was like.

        No fault and no traceback stands in its log, and no place is lost.
        """
        prober = threading.Thread(target=self._probe)
        prober.start()
        try:
            yield
        finally:
            self._stop.set()
            prober.join()
        assert len(self._took) >= 10
        took = sorted(self._took)
        p50, p99 = took[len(took) // 2], took[len(took) * 99 // 100]
        print(f"health p50={p50 * 1000:.1f} p99={p99 * 1000:.1f} ms, {len(took)} times")
        assert p99 < MOST_S
        text = self._output.read_text(errors="replace")
        for sign in ("Traceback", "internal_error", "exception", "Exception"):
            assert sign not in text, text[-3000:]
        self._require_empty()

    def _require_empty(self) -> None:
        deadline = time.monotonic() + _EMPTY_S
        with httpx.Client(base_url=self.url) as http:
            while held := http.get("/metadata").json()["active_sessions"]:
                assert time.monotonic() < deadline, f"{held} places are lost"
                time.sleep(0.2)

    def _probe(self) -> None:
        threads = [(self._process, self._process), (os.getpid(), threading.get_native_id())]
        while not self._stop.wait(_PROBE_EVERY_S):
            kept, started = _kept_waiting_s(threads), time.perf_counter()
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as asking:
                asking.sendall(_ASK)
                assert asking.recv(1 << 12).startswith(b"HTTP/1.1 200")
            took = time.perf_counter() - started
            self._took.append(max(0.0, took - (_kept_waiting_s(threads) - kept)))


def _kept_waiting_s(threads: list[tuple[int, int]]) -> float:
    """Return the seconds that threads (process, thread) could have run and other programs did; 0 if none are told."""
    try:
        told = [Path(f"/proc/{process}/task/{thread}/schedstat").read_text() for process, thread in threads]
    except OSError:
        return 0.0
    return sum(int(each.split()[1]) for each in told) / 1e9


@pytest.fixture
def fuzzed(tmp_path: Path) -> Iterator[Fuzzed]:
    """Start a server that forgets what nobody uses within seconds, and waits a second for what is half sent."""
    port = _free_port()
    variables = {
        "ECOM_RLVE_IDLE_TTL_S": "3",
        "ECOM_RLVE_HEADER_TIMEOUT_S": "1",
        "ECOM_RLVE_BODY_TIMEOUT_S": "1",
        "ECOM_RLVE_STORE": "memory",
        "ECOM_RLVE_WEB": "false",
    }
    output = tmp_path / "log"
    command = [sys.executable, "-m", "ecom_rlve.cli", "serve", "--catalog", "synthetic:400:0", "--port", str(port)]
    with output.open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **variables})
        try:
            _wait(lambda: _is_up(port), process)
            yield Fuzzed(port, process.pid, output)
        finally:
            process.terminate()
            process.wait(60)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _wait(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_S
    while not condition():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _is_up(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health").is_success
    except httpx.TransportError:
        return False
