"""A store that keeps its writers waiting keeps nobody else: what changes it is done in the journal's thread."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ecom_rlve.models import ResetRequest

SAMPLED = {"run_id": "r", "env_id": "CART"}
CHANGES: dict[str, tuple[str, str, Any]] = {
    "set": ("PUT", "/curriculum/r", {}),
    "make": ("PUT", "/curriculum/new", {}),
    "read": ("GET", "/curriculum/r", None),
    "export": ("GET", "/curriculum/r/export", None),
    "fork": ("POST", "/curriculum/r/fork", {"run_id": "fork"}),
    "delete": ("DELETE", "/curriculum/r", None),
    "sample": ("POST", "/episodes/sample", SAMPLED),
    "begin": ("POST", "/reset", {"env_id": "CART", "run_id": "new"}),
    "begin again": ("POST", "/reset", {"env_id": "CART", "run_id": "r"}),
    "forget": ("DELETE", "/episodes/E", None),
    "forget all": ("DELETE", "/episodes?run_id=r", None),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite3"


@pytest.fixture
def http(api: Callable[..., Any], path: Path) -> Any:
    made = api(store=path)
    made.reset(env_id="CART", run_id="r", episode_id="E")
    return made


async def meanwhile(http: Any, path: Path, method: str, address: str, body: Any) -> tuple[bool, int]:
    """Ask while somebody else writes; return whether /health was answered before, and the answer's status."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        asking = asyncio.create_task(http._client.request(method, address, json=body))
        for _ in range(3):
            assert (await http._client.get("/health")).status_code == 200
        is_waiting = not asking.done()
        other.execute("ROLLBACK")
    return is_waiting, (await asking).status_code


@pytest.mark.parametrize("change", CHANGES)
def test_health_is_answered_while_a_change_waits_for_the_store(
    http: Any, path: Path, runner: asyncio.Runner, change: str
) -> None:
    is_waiting, status = runner.run(meanwhile(http, path, *CHANGES[change]))
    assert is_waiting
    assert status in (200, 204)


def test_reports_and_imports_wait_by_themselves(http: Any, path: Path, runner: asyncio.Runner) -> None:
    (sampled,) = http.call("POST", "/episodes/sample", json=SAMPLED).json()["episodes"]
    exported = http.call("GET", "/curriculum/r/export").json()
    reported = {key: sampled[key] for key in ("env_id", "difficulty", "seed")} | {"episode_id": "e", "correct_share": 1}
    assert runner.run(meanwhile(http, path, "POST", "/curriculum/r/report", {"episodes": [reported]})) == (True, 200)
    assert runner.run(meanwhile(http, path, "POST", "/curriculum/s/import", {"exports": [exported]})) == (True, 200)


async def leave(http: Any, path: Path, locked_s: float) -> bool:
    """Let a socket's episode go while somebody else writes for so long; return whether it is found no more at once."""
    connection = await http.service.connect()
    await http.service.reset(ResetRequest(env_id="CART", run_id="r", episode_id="S"), connection)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        http.service.disconnect(connection)
        is_gone = http.service.journal.find("S") is None
        await asyncio.sleep(locked_s)
        other.execute("ROLLBACK")
    return is_gone


# The second is longer than the store waits for others: it is given up when that can be written.
@pytest.mark.parametrize("locked_s", [0.0, 0.7])
def test_a_socket_that_goes_waits_for_nothing(http: Any, path: Path, runner: asyncio.Runner, locked_s: float) -> None:
    assert runner.run(leave(http, path, locked_s))
    assert http.call("GET", "/state", params={"episode_id": "S"}).status_code == 404
    assert [each["episode_id"] for each in http.call("GET", "/episodes?run_id=r").json()] == ["E"]
    runner.run(http.service.tend())
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT episode_id FROM played").fetchall() == [("E",)]
