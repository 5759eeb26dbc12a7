"""Running a server in a child process, for as long as a ``with`` block lasts."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx

_POLL_S = 0.1
_STOP_S = 10


class LocalServerError(RuntimeError):
    """The child process ended, or did not answer in time; the message holds its last output."""


@contextmanager
def local_server(*arguments: str, discloses_acts: bool = False) -> Iterator[str]:
    """Run ``ecom-rlve serve`` on a free port of this machine and yield its URL.

    ``arguments`` are further ones of ``serve``; ``discloses_acts`` is needed if a built-in agent plays that hears acts.
    Raises :class:`LocalServerError` if it is not healthy in time.
    """
    variables = {"ECOM_RLVE_DISCLOSE_ACTS": "true"} if discloses_acts else {}
    with server_process("ecom_rlve.cli", "serve", *arguments, variables=variables) as (url, _):
        yield url


@contextmanager
def server_process(
    module: str,
    *arguments: str,
    start_timeout: float = 120,
    variables: Mapping[str, str] | None = None,
    python: str = sys.executable,
    health: str = "/health",
) -> Iterator[tuple[str, int]]:
    """Run a module that serves HTTP, with ``--host`` and ``--port`` added; yield its URL and its process id.

    ``python`` runs it, with ``variables`` added to its environment. A server of ours keeps its runs in memory, unless
    they say otherwise. It is up when ``health`` answers. It ends with this process, even if that is killed, where
    ``python`` has this package.

    Raises :class:`LocalServerError` if ``health`` does not succeed within ``start_timeout`` seconds.
    """
    port = _free_port()
    tether = ["-m", "ecom_rlve.evaluation.tethered"] if python == sys.executable else ["-m"]
    command = [python, "-P", *tether, module, *arguments, "--host", "127.0.0.1", "--port", str(port)]
    with tempfile.TemporaryFile("w+") as output:
        # Its own process group: Ctrl-C ends the game first, and the game ends the server.
        environment = {**os.environ, "ECOM_RLVE_STORE": "memory", **(variables or {})}
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=output, stderr=output, start_new_session=True, env=environment
        )
        try:
            url = f"http://127.0.0.1:{port}"
            if not _is_healthy(url + health, process, start_timeout):
                output.seek(0)
                raise LocalServerError(f"the server did not start:\n{output.read()[-2000:].strip()}")
            yield url, process.pid
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    assert process.stdin is not None
    process.stdin.close()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _is_healthy(url: str, process: subprocess.Popen[bytes], timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    with httpx.Client(trust_env=False, timeout=5) as http:
        while process.poll() is None and time.monotonic() < deadline:
            try:
                if http.get(url).is_success:
                    return True
            except httpx.RequestError:
                pass
            time.sleep(_POLL_S)
    return False
