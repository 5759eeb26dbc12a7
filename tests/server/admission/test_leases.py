"""Leases: who sends heartbeats and falls silent loses their places in minutes, and nobody else does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from ecom_rlve.server.admission.leases import Leases

CART = {"env_id": "CART", "difficulty": 1, "seed": 42}
ANN, BOB = {"Ecom-Client": "ann"}, {"Ecom-Client": "bob"}
LEASE_S, IDLE_S = 300, 3600


def begun(http: Any, headers: dict[str, str]) -> str:
    """Return the id of a new episode."""
    answer = http.call("POST", "/reset", headers=headers, json=CART).json()
    found: str = answer["observation"]["episode_id"]
    return found


def beat(http: Any, headers: dict[str, str]) -> Any:
    """Send a heartbeat and let the server do what it does every few seconds."""
    answer = http.call("POST", "/heartbeat", headers=headers)
    http._runner.run(http.service.tend())
    return answer


@pytest.fixture(params=["in memory", "in the journal"])
def http(request: pytest.FixtureRequest, api: Callable[..., Any], tmp_path: Path) -> Any:
    """An in-process client of a server whose episodes are kept here or there."""
    return api(store="memory" if request.param == "in memory" else tmp_path / "store.sqlite3")


def live(http: Any) -> int:
    """Return how many places are taken once what is over was given up."""
    http._runner.run(http.service.tend())
    found: int = http.service.sessions.active
    return found


def test_places_are_freed_minutes_after_the_last_heartbeat(http: Any, clock: Any) -> None:
    for headers in (ANN, BOB, {}):
        begun(http, headers)
    assert beat(http, ANN).json() == {"lease_s": LEASE_S}
    for _ in range(4):
        clock.seconds += 60
        beat(http, ANN)
    clock.seconds += LEASE_S
    assert live(http) == 3
    clock.seconds += 1
    # Bob and who has no name never sent a heartbeat: they have the idle time.
    assert live(http) == 2
    clock.seconds = IDLE_S
    assert live(http) == 2
    clock.seconds += 1
    assert live(http) == 0


def test_a_heartbeat_keeps_nothing_beyond_the_idle_time(http: Any, clock: Any) -> None:
    begun(http, ANN)
    while clock.seconds < IDLE_S:
        beat(http, ANN)
        clock.seconds += 60
    assert live(http) == 1
    clock.seconds += 1
    assert live(http) == 0


def test_an_episode_that_somebody_else_plays_on_is_kept(http: Any, clock: Any) -> None:
    episode_id = begun(http, ANN)
    beat(http, ANN)
    clock.seconds += LEASE_S - 1
    http.state(episode_id)
    clock.seconds += LEASE_S
    assert live(http) == 1
    clock.seconds += 1
    assert live(http) == 0


def test_an_ended_episode_stays_readable(http: Any, clock: Any) -> None:
    episode_id = begun(http, ANN)
    beat(http, ANN)
    http.call("POST", f"/episodes/{episode_id}/finish", json={})
    clock.seconds += IDLE_S
    assert http.call("GET", f"/episodes/{episode_id}/trace").status_code == 200


def test_a_session_is_leased_too(http: Any, clock: Any) -> None:
    create = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create", "params": {"reset": CART}}
    http.call("POST", "/mcp", headers=ANN, json=create)
    beat(http, ANN)
    clock.seconds += LEASE_S + 1
    assert live(http) == 0


def test_a_heartbeat_names_its_client(http: Any) -> None:
    for headers in ({}, {"Ecom-Client": ""}, {"Ecom-Client": "a" * 256}):
        answer = beat(http, headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "VALIDATION_ERROR")


def test_accounts_have_clients_of_their_own(api: Callable[..., Any], clock: Any) -> None:
    http = api(tokens=[{"name": "ann", "token": "a-1"}, {"name": "bob", "token": "b-1"}])
    ann, bob = ({**ANN, "Authorization": f"Bearer {token}"} for token in ("a-1", "b-1"))
    begun(http, ann)
    beat(http, ann)
    clock.seconds += LEASE_S + 1
    beat(http, bob)
    assert live(http) == 0


def test_a_silent_socket_is_closed_and_one_without_heartbeats_is_not(serve: Callable[..., Any]) -> None:
    server = serve(lease_s=0.3)
    with connect(server.ws) as leased, connect(server.ws) as other:
        for peer in (leased, other):
            peer.send(json.dumps({"type": "reset", "data": CART}))
            assert json.loads(peer.recv(timeout=30))["type"] == "observation"
        leased.send('{"type": "heartbeat"}')
        assert json.loads(leased.recv(timeout=30)) == {"type": "heartbeat", "data": {"lease_s": 0.3}}
        with pytest.raises(ConnectionClosed):
            leased.recv(timeout=30)
        other.send('{"type": "state"}')
        assert json.loads(other.recv(timeout=30))["type"] == "state"
        server.until(lambda: server.service.sessions.active == 1)


def test_many_clients_are_bounded(clock: Any) -> None:
    leases = Leases(1, clock)
    for number in range(10_001):
        leases.beat(str(number))
    assert len(leases.heard()) == 10_000, "nobody may ever ask for them"
    clock.seconds = 2
    assert [leases.is_lost(name) for name in ("0", "1", "10000", "never", None)] == [False, True, True, False, False]
