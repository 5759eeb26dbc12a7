"""JSON-RPC sessions belong to no worker: one begins them, any other plays on, resets, attaches to and closes them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ecom_rlve.models import ResetRequest
from ecom_rlve.server.store.errors import StoreUnavailableError

REQUEST = "a-request-id-of-its-own"


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
    opened(first, seed=2)
    before = viewed(first, session_id, request_id="r")
    first.service.close()
    second = api(store=path)
    assert viewed(second, session_id, request_id="r") == before
    assert second.service.sessions.active == 2


def test_a_session_keeps_the_episode_that_it_takes_up(workers: Callable[..., Any], runner: asyncio.Runner) -> None:
    one, other = workers()
    one.reset(env_id="CART", seed=1, style="tool", episode_id="E")
    session_id = opened(one, seed=2, episode_id="before")
    runner.run(one.service.resume("E", runner.run(one.service.rpc_sessions.find(session_id))))
    for http in (one, other, one):
        assert "error" not in viewed(http, session_id)
    assert one.state("E")["step_count"] == 3
    assert one.call("GET", "/state", params={"episode_id": "before"}).status_code == 404
    rpc(one, "openenv/session/close", session_id=session_id)
    assert other.call("GET", "/state", params={"episode_id": "E"}).status_code == 404
    assert one.service.journal.places() == 0


@pytest.mark.parametrize("asked", [0, 1])
def test_a_session_whose_creation_is_repeated_plays_the_same_episode(workers: Callable[..., Any], asked: int) -> None:
    http = workers()
    lost = opened(http[0], seed=1, request_id=REQUEST, episode_id="E")
    session_id = opened(http[asked], seed=1, request_id=REQUEST, episode_id="E")
    for each in (http[0], http[1]):
        assert "error" not in viewed(each, session_id)
    assert http[0].state("E")["step_count"] == 2
    assert code(viewed(http[1 - asked], lost)) == "NOT_RESET"
    rpc(http[0], "openenv/session/close", session_id=lost)
    assert "error" not in viewed(http[1], session_id)


def test_an_episode_that_a_socket_took_from_a_session_stays_with_it(
    workers: Callable[..., Any], runner: asyncio.Runner, clock: Any
) -> None:
    one, other = workers(idle_ttl_s=60)
    session_id = opened(one, seed=1, episode_id="E")
    socket = runner.run(other.service.connect())
    runner.run(other.service.resume("E", socket))
    assert code(viewed(one, session_id)) == "NOT_RESET"
    for _ in range(4):
        # In steps, since a worker that says nothing for half a minute counts as dead.
        clock.seconds += 20
        for http in (other, one):
            runner.run(http.service.tend())
    assert code(viewed(one, session_id)) == "UNKNOWN_SESSION"
    assert other.state("E")["step_count"] == 0
    assert socket.record is not None


def test_a_session_outlives_an_episode_that_cannot_be_played_again(
    api: Callable[..., Any], path: Path, runner: asyncio.Runner
) -> None:
    first = api(store=path)
    session_id = opened(first, seed=1)
    viewed(first, session_id)
    first.service.close()
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE actions SET answer = x'00'")
    second = api(store=path)
    for _ in range(2):
        assert code(viewed(second, session_id)) == "NOT_RESET"
    found = runner.run(second.service.rpc_sessions.find(session_id))
    runner.run(second.service.reset(ResetRequest(env_id="CART", style="tool"), found))
    assert "error" not in viewed(second, session_id)
    assert rpc(second, "openenv/session/close", session_id=session_id)["result"]["closed"]


def test_who_asks_while_a_reset_is_told_does_no_harm_to_its_episode(
    workers: Callable[..., Any], runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = workers()
    session_id = opened(one, seed=1)
    begin = one.service.journal.begin

    async def asked_meanwhile(*given: Any, **more: Any) -> Any:
        begun = await begin(*given, **more)
        # It is written down, and the reset has not yet heard of it.
        assert (await one.service.rpc_sessions.find(session_id)).record.episode_id == "E"
        return begun

    monkeypatch.setattr(one.service.journal, "begin", asked_meanwhile)
    found = runner.run(one.service.rpc_sessions.find(session_id))
    runner.run(one.service.reset(ResetRequest(env_id="CART", style="tool", episode_id="E"), found))
    monkeypatch.undo()
    runner.run(one.service.tend())
    assert "error" not in viewed(one, session_id)
    assert one.state("E")["step_count"] == 1
    assert one.service.sessions.active == 1


def test_a_name_that_is_used_again_at_another_worker_is_no_other_episode(workers: Callable[..., Any]) -> None:
    one, other = workers()
    one.reset(env_id="CART", seed=1, episode_id="E")
    one.step("E", {"answer": {"done": True}})
    other.reset(env_id="CART", seed=2, episode_id="E")
    assert one.state("E") == other.state("E")
    assert one.step("E", {"assistant_message": "Hello."}).status_code == 200


def test_a_session_that_cannot_be_begun_leaves_nothing(
    api: Callable[..., Any], path: Path, runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    http = api(store=path)
    begin = http.service.journal.begin
    with closing(sqlite3.connect(path, isolation_level=None)) as other:

        async def begun_while_others_write(*given: Any, **more: Any) -> Any:
            other.execute("BEGIN IMMEDIATE")
            return await begin(*given, **more)

        monkeypatch.setattr(http.service.journal, "begin", begun_while_others_write)
        answer = rpc(http, "openenv/session/create", reset={"env_id": "CART"})
        assert code(answer) == "STORE_UNAVAILABLE"
        assert http.service.sessions.here == 0
        with pytest.raises(StoreUnavailableError):
            runner.run(http.service.tend())
        other.execute("ROLLBACK")
    runner.run(http.service.tend())
    assert http.service.journal.places() == http.service.sessions.active == 0
