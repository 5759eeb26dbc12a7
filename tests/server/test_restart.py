"""A server without a journal that ends, however it ends, and starts again on its store: runs, groups and counts are as
they were, and episodes that were live are lost.
"""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from ecom_rlve.evaluation.local_server import LocalServerError, server_process
from ecom_rlve.models import ResetRequest
from ecom_rlve.server.store.errors import StoreError, StoreUnavailableError

DONE = {"answer": {"done": True}}
ASKING = {"assistant_message": "Hello."}
SPEC = ("env_id", "difficulty", "seed", "split", "style", "format")
Call = Callable[..., httpx.Response]


def begin(call: Call, **body: Any) -> Any:
    answer = call("POST", "/reset", json={"env_id": "CART", "run_id": "r", "include": [], **body})
    assert answer.status_code == 200, answer.text
    return answer.json()["metadata"]


def step(call: Call, episode_id: str, action: Any) -> None:
    body = {"episode_id": episode_id, "action": action}
    assert call("POST", "/step", json=body).status_code == 200


def play_half(call: Call) -> dict[str, Any]:
    """Play until a server is killed: in the middle of groups, with everything that a store keeps."""
    settings = {
        "parameters": {"tau_num": 2},
        "weights": {"CART": 1},
        "reward_profile": {"task": 1, "eff": 0, "hall": 0},
    }
    assert call("PUT", "/curriculum/r", json=settings).status_code == 200
    for number in range(2):
        begin(call, episode_id=f"passed {number}")
        step(call, f"passed {number}", DONE)
    told = {}
    for group in ("whole", "half", "live", "given up"):
        told[group] = [begin(call, group_id=group, episode_id=f"{group} {number}") for number in range(2)]
    for episode_id in ("whole 0", "whole 1", "half 0"):
        step(call, episode_id, DONE)
    for episode_id in ("half 1", "live 0", "live 1", "given up 0", "given up 1"):
        step(call, episode_id, ASKING)
    call("DELETE", "/episodes/given%20up%200")
    sampled = call("POST", "/episodes/sample", json={"run_id": "r", "n": 2}).json()["episodes"]
    return {"groups": told, "sampled": sampled, "run": call("GET", "/curriculum/r").json()}


def check_goes_on(call: Call, before: dict[str, Any]) -> None:
    """Check a server that was started again, and play on."""
    (was,), now = before["run"]["frontiers"], call("GET", "/curriculum/r").json()
    (is_now,) = now["frontiers"]
    assert {**now, "frontiers": []} == {**before["run"], "frontiers": []}
    # "whole" is one of the seeds that were judged or wait; "half" has become ready by the episode that ended.
    assert (is_now["level"], is_now["passes"], is_now["live_seeds"]) == (was["level"], was["passes"], 0)
    assert (was["ready_seeds"], was["live_seeds"], is_now["ready_seeds"]) == (1, 3, 2)
    reports = [
        {**metadata, "episode_id": episode_id, "correct_share": 1}
        for episode_id, metadata in (("whole 1", before["groups"]["whole"][1]), ("half 0", before["groups"]["half"][0]))
    ]
    answer = call("POST", "/curriculum/r/report", json={"episodes": reports}).json()
    assert [each.get("why_uncounted") for each in answer["episodes"]] == ["repeated", "repeated"]
    for group, members in before["groups"].items():
        again = begin(call, group_id=group, episode_id=f"{group} again")
        assert [again[name] for name in SPEC] == [members[0][name] for name in SPEC]
        assert (again["group_member"], again["counts"]) == (3, True)
    assert begin(call, **before["sampled"][0])["counts"]
    assert call("POST", "/step", json={"episode_id": "live 1", "action": DONE}).status_code == 404
    assert call("GET", "/curriculum/r").json()["counted"] == before["run"]["counted"]
    step(call, "whole again", DONE)
    assert call("GET", "/curriculum/r").json()["counted"] == before["run"]["counted"] + 1


def test_a_server_goes_on_with_its_store(api: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    first = api(store=path, journal="memory")
    before = play_half(first.call)
    with pytest.raises(StoreError, match="another server"):
        api(store=path, journal="memory")
    # As a killed process leaves it: nothing more is written.
    first.service.database.close()
    check_goes_on(api(store=path, journal="memory").call, before)


@pytest.mark.slow
def test_a_server_that_was_killed_goes_on(tmp_path: Path) -> None:
    variables = {"ECOM_RLVE_STORE": str(tmp_path / "store.sqlite3"), "ECOM_RLVE_JOURNAL": "memory"}
    serving = ("ecom_rlve.cli", "serve", "--catalog", "synthetic:400:0")
    with server_process(*serving, variables=variables) as (url, pid), httpx.Client(base_url=url, timeout=60) as http:
        before = play_half(http.request)
        with (
            pytest.raises(LocalServerError, match="another server uses the store"),
            server_process(*serving, variables=variables),
        ):
            pass
        os.kill(pid, signal.SIGKILL)
    with server_process(*serving, variables=variables) as (url, _), httpx.Client(base_url=url, timeout=60) as http:
        check_goes_on(http.request, before)


def refusal(answer: Any) -> tuple[int, str, str]:
    return answer.status_code, answer.json()["error"]["code"], answer.headers["Retry-After"]


UNAVAILABLE = (503, "STORE_UNAVAILABLE", "5")


def test_a_full_disk_refuses_resets_and_samples_and_leaves_nothing_behind(
    api: Callable[..., Any], tmp_path: Path
) -> None:
    http = api(store=tmp_path / "store.sqlite3", journal="memory")
    begin(http.call, episode_id="first")
    (pages,) = http.service.database.row("PRAGMA page_count")
    http.service.database.row(f"PRAGMA max_page_count = {pages}")
    # The pages that there are hold some more.
    bodies = [{"env_id": "CART", "run_id": "r", "group_id": f"{number} {'g' * 240}"} for number in range(40)]
    answers = [http.call("POST", "/reset", json=body) for body in bodies]
    refused = [number for number, answer in enumerate(answers) if answer.status_code != 200]
    assert {refusal(answers[number]) for number in refused} == {UNAVAILABLE}
    assert refusal(http.call("POST", "/episodes/sample", json={"run_id": "r", "n": 200})) == UNAVAILABLE
    assert http.service.sessions.active == 1 + 40 - len(refused)
    http.service.database.row("PRAGMA max_page_count = 1000000")
    assert [begin(http.call, **bodies[number])["group_member"] for number in refused] == [1] * len(refused)


def test_a_step_whose_end_cannot_be_written_is_as_if_never_sent(api: Callable[..., Any], tmp_path: Path) -> None:
    http = api(store=tmp_path / "store.sqlite3", journal="memory")
    begin(http.call, episode_id="E", seed=None)
    step(http.call, "E", ASKING)
    before = http.state("E")
    # Nothing can be written while somebody else writes.
    other = sqlite3.connect(tmp_path / "store.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    last = {"episode_id": "E", "action": DONE, "request_id": "the last"}
    assert refusal(http.call("POST", "/step", json=last)) == UNAVAILABLE
    assert refusal(http.call("DELETE", "/episodes/E")) == UNAVAILABLE
    assert refusal(http.call("PUT", "/curriculum/r", json={})) == UNAVAILABLE
    assert http.state("E") == before
    assert http.step("E", ASKING).status_code == 200
    other.execute("ROLLBACK")
    other.close()
    answers = [http.call("POST", "/step", json=last) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert answers[0].json()["done"]
    assert http.call("GET", "/curriculum/r").json()["counted"] == 1
    assert http.service.database.row("SELECT count(*) FROM episodes WHERE standing = 'live'") == (0,)


def test_a_socket_that_leaves_while_nothing_can_be_written_frees_its_place(
    api: Callable[..., Any], tmp_path: Path, clock: Any
) -> None:
    http = api(store=tmp_path / "store.sqlite3", journal="memory", idle_ttl_s=60)
    service = http.service
    connection = service.sessions.connect()
    http._runner.run(service.reset(ResetRequest(env_id="CART", run_id="r", episode_id="E"), connection))
    http._runner.run(service.step(connection.record, ASKING))
    other = sqlite3.connect(tmp_path / "store.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    asked = ResetRequest(env_id="CART", run_id="r")
    with pytest.raises(StoreUnavailableError, match="locked"):
        http._runner.run(service.reset(asked, connection))
    assert connection.record.episode_id == "E"
    service.disconnect(connection)
    assert service.sessions.active == 0
    other.execute("ROLLBACK")
    other.close()
    assert http.call("GET", "/curriculum/r").json()["counted"] == 0
    clock.seconds += 61
    assert service.sessions.reap() == 1
    assert http.call("GET", "/curriculum/r").json()["counted"] == 1
