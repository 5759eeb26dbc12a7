"""What the tests of the deployments look at, and how they import the programs beside it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType

import httpx
import pytest

from ecom_rlve.evaluation.bench.load import cpu_seconds

ROOT = Path(__file__).parents[2]
CATALOG = "synthetic:400:0"
NEVER_S = 120.0
"""After which a test gives up on a server that should have started or stopped."""


@pytest.fixture(scope="session")
def deploy() -> Path:
    """The folder of what is deployed."""
    return ROOT / "deploy"


@pytest.fixture(scope="session")
def dockerfile_reader(deploy: Path) -> ModuleType:
    """The module that reads Dockerfiles."""
    sys.path.insert(0, str(deploy))
    try:
        return import_module("dockerfile")
    finally:
        sys.path.remove(str(deploy))


class Serving:
    """A server in a process of its own, on an address that it keeps when it is started again."""

    def __init__(self, folder: Path, **variables: str) -> None:
        """``folder`` is what it may write to; ``variables`` are added to its environment."""
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            self.port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = {**os.environ, "XDG_STATE_HOME": str(folder), "ECOM_RLVE_CATALOG": CATALOG, **variables}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The id of its process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        command = [sys.executable, "-m", "ecom_rlve.cli", "serve", "--host", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(command, env=self._environment)
        until_ready(f"{self.url}/ready", self._process)

    def stop(self) -> None:
        """End it as an operator does, and wait until it is gone."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(NEVER_S)

    def cpu_seconds(self) -> float:
        """Return the processor time that it has used."""
        found = cpu_seconds(self.pid)
        assert found is not None
        return found


def until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    """Ask until the answer is 200."""
    deadline = time.monotonic() + NEVER_S
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(httpx.TransportError):
            if httpx.get(url).is_success:
                return
        time.sleep(0.05)
    raise AssertionError(f"no answer from {url}")


@pytest.fixture
def servers(redis_url: str, tmp_path: Path) -> Iterator[list[Serving]]:
    """Two servers as on two machines, which share a store in Redis."""
    made = [Serving(tmp_path / name, ECOM_RLVE_STORE=redis_url) for name in ("first", "second")]
    try:
        for each in made:
            each.start()
        yield made
    finally:
        for each in made:
            each.stop()


@pytest.fixture
def balanced(deploy: Path, tmp_path: Path) -> Iterator[Callable[[list[Serving]], str]]:
    """Put nginx, as it is deployed, in front of servers; return its address. Skips loudly where there is none."""
    program = shutil.which("nginx")
    if program is None:
        pytest.skip("NOTHING WAS TRIED BEHIND NGINX: there is none; apt-get install nginx-light")
    with ExitStack() as stack:

        def started(servers: list[Serving]) -> str:
            with closing(socket.create_server(("127.0.0.1", 0))) as free:
                port = free.getsockname()[1]
            upstream = " ".join(f"server 127.0.0.1:{each.port};" for each in servers)
            text = (deploy / "nginx/default.conf.template").read_text()
            text = text.replace("${SERVERS}", upstream).replace("${PORT}", f"127.0.0.1:{port}")
            temporary = "".join(
                f"{name}_temp_path {tmp_path}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            )
            whole = (
                f"user root; daemon off; pid {tmp_path}/{port}.pid; worker_processes 1; error_log {tmp_path}/errors;"
                f"events {{ worker_connections 1024; }} http {{ {temporary}\n{text}\n}}"
            )
            config = tmp_path / f"nginx-{port}.conf"
            config.write_text(whole)
            command = [program, "-c", str(config), "-e", str(tmp_path / "errors")]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            until_ready(f"http://127.0.0.1:{port}/health", process)
            return f"http://127.0.0.1:{port}"

        yield started
