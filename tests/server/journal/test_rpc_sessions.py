"""JSON-RPC sessions belong to no worker: one begins them, any other plays on, resets, attaches to and closes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ecom_rlve.models import ResetRequest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite3"


@pytest.fixture
def workers(api: Callable[..., Any], path: Path) -> Callable[..., tuple[Any, Any]]:
    def made(**settings: Any) -> tuple[Any, Any]:
        return api(store=path, workers=2, **settings), api(store=path, workers=2, **settings)

    return made


def rpc(http: Any, method: str, **params: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return http.call("POST", "/mcp", json=body).json()


def opened(http: Any, **reset: Any) -> str:
    more = {"reset": {"env_id": "CART", **reset}} if reset else {}
    session_id: str = rpc(http, "openenv/session/create", **more)["result"]["session_id"]
    return session_id


def viewed(http: Any, session_id: str, **more: Any) -> Any:
    return rpc(http, "tools/call", session_id=session_id, name="cart_view", arguments={}, **more)


def code(answer: Any) -> str:
    told: str = answer["error"]["data"]["code"]
    return told


def test_tools_are_called_at_any_worker(workers: Callable[..., Any]) -> None:
    one, other = workers()
    session_id = opened(one, seed=1)
    assert not any("error" in viewed((one, other)[n % 2], session_id) for n in range(4))
    record = one._runner.run(one.service.rpc_sessions.find(session_id)).record
    assert one.state(record.episode_id) == other.state(record.episode_id)
    assert one.state(record.episode_id)["step_count"] == 4
    names = [
        {tool["name"] for tool in rpc(each, "tools/list", session_id=session_id)["result"]["tools"]}
        for each in (one, other)
    ]
    assert names[0] == names[1]
    again = [viewed(each, session_id, request_id="r") for each in (one, other, one)]
    assert again[0] == again[1] == again[2]
    assert one.state(record.episode_id)["step_count"] == 5


def test_a_reset_at_another_worker_replaces_the_episode(workers: Callable[..., Any], runner: asyncio.Runner) -> None:
    one, other = workers()
    session_id = opened(one, seed=1, episode_id="first")
    viewed(one, session_id)
    there = runner.run(other.service.rpc_sessions.find(session_id))
    runner.run(other.service.reset(ResetRequest(env_id="CART", seed=2, episode_id="second", style="tool"), there))
    assert "error" not in viewed(one, session_id)
    assert runner.run(one.service.rpc_sessions.find(session_id)).record.episode_id == "second"
    assert other.state("second")["step_count"] == 1
    assert one.call("GET", "/state", params={"episode_id": "first"}).status_code == 404


def test_a_session_without_an_episode_is_known_everywhere_and_closed_anywhere(workers: Callable[..., Any]) -> None:
    one, other = workers()
    session_id = opened(one)
    assert code(viewed(other, session_id)) == "NOT_RESET"
    assert rpc(other, "openenv/session/close", session_id=session_id)["result"]["closed"]
    for http in (one, other):
        assert code(viewed(http, session_id)) == "UNKNOWN_SESSION"
        http._runner.run(http.service.tend())
        assert http.service.sessions.active == 0


def test_a_session_takes_one_place_of_all_workers(workers: Callable[..., Any]) -> None:
    one, other = workers(max_sessions=2)
    sessions = [opened(one, seed=1), opened(other, seed=2)]
    for http in (one, other):
        for session_id in sessions:
            viewed(http, session_id)
        http._runner.run(http.service.tend())
        assert http.service.sessions.active == 2
        assert code(rpc(http, "openenv/session/create")) == "CAPACITY_REACHED"
        assert http.call("POST", "/reset", json={"env_id": "CART"}).status_code == 503
    rpc(one, "openenv/session/close", session_id=sessions[1])
    other._runner.run(other.service.tend())
    assert other.reset(env_id="CART")


def test_a_session_lives_as_long_as_any_worker_uses_it(workers: Callable[..., Any], clock: Any) -> None:
    one, other = workers(idle_ttl_s=60)
    session_id = opened(one, seed=1)
    for http in (other, other, one):
        clock.seconds += 40
        assert "error" not in viewed(http, session_id)
        for each in (one, other):
            each._runner.run(each.service.tend())
    clock.seconds += 61
    assert one._runner.run(one.service.tend()) == 1
    for http in (one, other):
        assert code(viewed(http, session_id)) == "UNKNOWN_SESSION"
        http._runner.run(http.service.tend())
        assert http.service.sessions.active == 0


def test_a_restart_loses_no_session(api: Callable[..., Any], path: Path) -> None:
    first = api(store=path)
    session_id = opened(first, seed=1)
    before = viewed(first, session_id, request_id="r")
    first.service.close()
    second = api(store=path)
    assert viewed(second, session_id, request_id="r") == before
    assert second.service.sessions.active == 1
