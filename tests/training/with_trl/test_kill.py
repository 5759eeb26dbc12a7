"""The server is killed in the middle of a run and started again: the run goes on, and its curriculum is what it was."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from ecom_rlve import EcomEnv

pytestmark = pytest.mark.nightly

SIZE = 4
"""Rollouts of a group in the dry run."""
GROUPS = ("prompt-0", "prompt-1", "prompt-2", "prompt-3")
PATIENCE_S = 300


@contextmanager
def server(port: int, store: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server on a port of this machine with a store on disk; killed at the end."""
    command = [sys.executable, "-m", "ecom_rlve.cli", "serve", "--catalog", "synthetic:600:0", "--port", str(port)]
    process = subprocess.Popen(command, env={**os.environ, "ECOM_RLVE_STORE": str(store)})
    try:
        until(lambda: httpx.get(f"http://127.0.0.1:{port}/health").is_success)
        yield process
    finally:
        process.kill()
        process.wait()


def until(met: Callable[[], bool]) -> None:
    """Wait for something; an AssertionError if it does not come."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            if met():
                return
        except httpx.RequestError:
            pass
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def played(url: str, run_id: str) -> list[dict[str, Any]]:
    """Return the live episodes in which a step was taken."""
    live: list[dict[str, Any]] = httpx.get(f"{url}/episodes", params={"run_id": run_id}).json()
    return [each for each in live if each["step_count"]]


def specs(url: str, run_id: str) -> list[tuple[int, int]]:
    """Return seed and difficulty of each group."""
    with EcomEnv(url, env="CART") as env:
        found = [env.reset(run_id=run_id, group_id=each, style="tool").metadata for each in GROUPS]
    return [(each.seed, each.difficulty) for each in found]


def test_a_run_outlives_its_server(dry_run: Any, tmp_path: Path) -> None:
    # New groups in place of those that are not mixed would leave open how many rollouts there were.
    dry_run.recipe.write_text(dry_run.recipe.read_text().replace("redraws: 4", "redraws: 0"))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    url, store = f"http://127.0.0.1:{port}", tmp_path / "store.sqlite3"
    with server(port, store) as first:
        trainer = dry_run.start(url)
        until(lambda: (dry_run.output / "ecom_rlve_run.json").exists())
        # In the second step: the first one's groups have ended, and were counted.
        until(lambda: (dry_run.output / "checkpoint-1" / "trainer_state.json").exists())
        until(lambda: len(played(url, dry_run.run_id)) >= 2)
        with EcomEnv(url) as env:
            before = env.curriculum(dry_run.run_id).read()
            seeds_before = specs(url, dry_run.run_id)
        first.send_signal(signal.SIGKILL)
        first.wait()
    with server(port, store):
        printed, _ = trainer.communicate(timeout=PATIENCE_S)
        assert trainer.returncode == 0, printed[-4000:]
        assert httpx.get(f"{url}/episodes", params={"run_id": dry_run.run_id}).json() == []
        with EcomEnv(url) as env:
            after = env.curriculum(dry_run.run_id).read()
        seeds_after = specs(url, dry_run.run_id)
    lost = [round(line["lost"] * 2 * SIZE) for line in dry_run.steps()]
    assert lost == [0, 0]
    assert before.counted >= 2 * SIZE
    assert after.counted == 4 * SIZE, "every rollout once"
    assert seeds_after == seeds_before
    assert after.groups == before.groups == len(GROUPS)
    assert [each.level for each in after.frontiers] == [each.level for each in before.frontiers]
