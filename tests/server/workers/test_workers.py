"""Real workers on a real port: killed, replaced, stopped. What they serve is one server."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from rich.console import Console

from ecom_rlve.client import EcomEnv
from ecom_rlve.evaluation.bench.soak.__main__ import Plan, soaked
from ecom_rlve.evaluation.bench.soak.processes import workers_of
from ecom_rlve.evaluation.bench.soak.report import is_kept, judged, table
from ecom_rlve.evaluation.local_server import LocalServerError, server_process

NEVER_S = 180.0
ASKING = {"assistant_message": "Hello."}


@contextmanager
def two_workers(store: Path, **variables: str) -> Iterator[tuple[str, int]]:
    serving = ("ecom_rlve.cli", "serve", "--catalog", "synthetic:400:0", "--workers", "2")
    with server_process(*serving, variables={"ECOM_RLVE_STORE": str(store), **variables}) as started:
        yield started


@pytest.mark.slow
def test_killed_and_replaced_workers_are_not_noticed(tmp_path: Path) -> None:
    with two_workers(tmp_path / "store.sqlite3") as (url, pid), EcomEnv(url, env="CART", retry_for=NEVER_S) as env:
        env.reset(seed=1, axes={"t_max": 1000})
        for _ in range(2):
            env.step(ASKING)
            before = set(workers_of(pid))
            for worker in before:
                os.kill(worker, signal.SIGKILL)
            env.step(ASKING)
        before = set(workers_of(pid))
        os.kill(pid, signal.SIGHUP)
        deadline = time.monotonic() + NEVER_S
        while set(workers_of(pid)) & before:
            assert time.monotonic() < deadline, "the workers were not replaced in time"
            env.step(ASKING)
            time.sleep(0.2)
        steps = env.state().step_count
        assert httpx.get(f"{url}/metadata").json()["active_sessions"] == 1
        assert env.finish().done
        assert steps >= 4


@pytest.mark.slow
def test_a_supervisor_that_is_killed_takes_its_workers_along(tmp_path: Path) -> None:
    with two_workers(tmp_path / "store.sqlite3") as (_, pid):
        workers = workers_of(pid)
        assert len(workers) == 2
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + NEVER_S
        while time.monotonic() < deadline and any(Path(f"/proc/{worker}").exists() for worker in workers):
            time.sleep(0.1)
        assert [worker for worker in workers if Path(f"/proc/{worker}").exists()] == []


@pytest.mark.slow
def test_workers_that_cannot_start_end_the_server(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite3").write_bytes(b"no database" * 1000)
    with (
        pytest.raises(LocalServerError, match="damaged"),
        two_workers(tmp_path / "store.sqlite3"),
    ):
        pass


@pytest.mark.slow
def test_every_promise_is_kept_while_workers_are_killed() -> None:
    plan = Plan(
        episodes=64, seconds=20, workers=2, pause_s=1.0, products=2000, kill_every_s=4.0, hang_every_s=5.0, seed=1
    )
    seen, trouble, checked = soaked(plan, Console(stderr=True))
    promises = judged(seen, checked, trouble.samples, plan.workers)
    assert is_kept(promises), table(promises)
    assert trouble.kills >= 2
    assert trouble.full == 1
