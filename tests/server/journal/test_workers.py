"""Two workers on one store play the same episodes: no step is lost or doubled, groups stay whole, places are shared."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import ResetRequest
from ecom_rlve.server.app import create_app
from ecom_rlve.server.settings import Settings
from ecom_rlve.server.store.errors import StoreError, StoreUnavailableError

DONE = {"answer": {"done": True}}
ASKING = {"assistant_message": "Hello.", "tool_calls": [{"name": "cart_view", "args": {}}]}
LONG = {"t_max": 200}


@pytest.fixture(params=["sqlite", pytest.param("redis", marks=pytest.mark.slow)])
def pair(
    request: pytest.FixtureRequest, api: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Any, Any]]:
    """Make two workers with the given settings: on one file, or on two machines that share a database in Redis."""
    is_file = request.param == "sqlite"
    store = tmp_path / "store.sqlite3" if is_file else request.getfixturevalue("redis_url")

    def made(**settings: Any) -> tuple[Any, Any]:
        workers = []
        for number in range(2):
            monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / f"machine-{number}"))
            workers.append(api(store=store, workers=2 if is_file else 1, **settings))
        return workers[0], workers[1]

    return made


def begin(http: Any, **body: Any) -> Any:
    return http.reset(**{"env_id": "CART", "run_id": "r", "include": [], **body})


def test_an_episode_is_played_on_by_whoever_is_asked(pair: Callable[..., Any]) -> None:
    one, other = pair()
    begin(one, episode_id="E", axes=LONG)
    answers = {}
    for number in range(6):
        http = (one, other)[number % 2]
        answers[f"r{number}"] = http.step("E", ASKING, request_id=f"r{number}").content
    assert one.state("E") == other.state("E")
    assert one.state("E")["step_count"] == 6
    for http in (one, other):
        assert {name: http.step("E", ASKING, request_id=name).content for name in answers} == answers
    assert one.step("E", DONE, request_id="last").content == other.step("E", DONE, request_id="last").content
    assert other.step("E", ASKING).json()["error"]["code"] == "EPISODE_DONE"
    traces = {http.call("GET", "/episodes/E/trace").text for http in (one, other)}
    assert len(traces) == 1


def test_steps_at_the_same_moment_are_each_applied_once(pair: Callable[..., Any], runner: asyncio.Runner) -> None:
    one, other = pair()
    begin(one, episode_id="E", axes=LONG)
    other.state("E")

    async def storm() -> list[str]:
        # Each request goes to both workers, as a client's that has lost its connection.
        calls = [
            http._client.post("/step", json={"episode_id": "E", "action": ASKING, "request_id": f"r{number}"})
            for number in range(12)
            for http in (one, other)
        ]
        return [answer.text for answer in await asyncio.gather(*calls)]

    answers = runner.run(storm())
    pairs = list(zip(answers[::2], answers[1::2], strict=True))
    assert [first for first, _ in pairs] == [second for _, second in pairs]
    turns = sorted(json.loads(first)["observation"]["turn"] for first, _ in pairs)
    assert turns == list(range(1, 13))
    assert one.state("E")["step_count"] == other.state("E")["step_count"] == 12


def test_the_same_reset_makes_one_episode(pair: Callable[..., Any], runner: asyncio.Runner) -> None:
    one, other = pair()

    async def together() -> list[Any]:
        body = {"env_id": "CART", "request_id": "the same random characters"}
        return [
            each.json() for each in await asyncio.gather(*(h._client.post("/reset", json=body) for h in (one, other)))
        ]

    first, second = runner.run(together())
    assert first == second
    assert one.call("GET", "/episodes", params={"run_id": "default"}).json()[0]["step_count"] == 0
    assert len(other.call("GET", "/episodes", params={"run_id": "default"}).json()) == 1


def test_a_group_plays_one_episode_whoever_begins_it(pair: Callable[..., Any], runner: asyncio.Runner) -> None:
    one, other = pair()

    async def together() -> list[Any]:
        bodies = [{"run_id": "r", "group_id": f"g{number % 3}"} for number in range(12)]
        calls = [(one, other)[number % 2]._client.post("/reset", json=body) for number, body in enumerate(bodies)]
        return [each.json()["metadata"] for each in await asyncio.gather(*calls)]

    told = runner.run(together())
    for name in ("g0", "g1", "g2"):
        members = [each for each in told if each["group_id"] == name]
        assert sorted(each["group_member"] for each in members) == [1, 2, 3, 4]
        assert len({(each["env_id"], each["seed"], each["difficulty"]) for each in members}) == 1


def test_places_are_counted_over_all_workers(pair: Callable[..., Any]) -> None:
    one, other = pair(max_sessions=3)
    for number in range(3):
        begin((one, other)[number % 2], episode_id=str(number))
    answers = [http.call("POST", "/reset", json={"env_id": "CART"}) for http in (one, other)]
    assert [answer.json()["error"]["code"] for answer in answers] == ["CAPACITY_REACHED"] * 2
    other.call("DELETE", "/episodes/0")
    one._runner.run(one.service.tend())
    assert begin(one, episode_id="3")


def test_a_socket_takes_up_an_episode_whose_worker_has_died(
    pair: Callable[..., Any], runner: asyncio.Runner, clock: Any
) -> None:
    one, other = pair(idle_ttl_s=60)
    socket = one.service.sessions.connect()
    runner.run(one.service.reset(ResetRequest(env_id="CART", run_id="r", episode_id="E"), socket))
    runner.run(one.service.step(socket.record, ASKING, "r0"))
    # It has a living worker, so it does not expire.
    clock.seconds += 61
    runner.run(one.service.tend())
    assert runner.run(other.service.tend()) == 0
    again = other.service.sessions.connect()
    state = json.loads(runner.run(other.service.resume("E", again)))
    assert state["step_count"] == 1
    runner.run(other.service.step(again.record, ASKING, "r1"))
    # The first socket is half-open and goes later: the episode is not its own any more.
    one.service.disconnect(socket)
    assert json.loads(runner.run(other.service.state(again.record)))["step_count"] == 2
    other.service.disconnect(again)
    assert other.call("GET", "/state", params={"episode_id": "E"}).status_code == 404


def test_an_episode_of_a_dead_worker_expires(pair: Callable[..., Any], runner: asyncio.Runner, clock: Any) -> None:
    one, other = pair(idle_ttl_s=60)
    socket = one.service.sessions.connect()
    runner.run(one.service.reset(ResetRequest(env_id="CART", run_id="r", episode_id="E"), socket))
    runner.run(one.service.step(socket.record, ASKING))
    runner.run(other.service.tend())
    assert other.service.sessions.active == 0
    clock.seconds += 40
    assert runner.run(other.service.tend()) == 0
    assert other.service.sessions.active == 1
    clock.seconds += 40
    assert runner.run(other.service.tend()) == 1
    assert other.service.sessions.active == 0
    assert other.call("GET", "/curriculum/r").json()["counted"] == 1


def test_an_episode_that_another_worker_removed_is_put_out_of_memory(pair: Callable[..., Any]) -> None:
    one, other = pair()
    begin(one, episode_id="E")
    assert other.call("DELETE", "/episodes/E").status_code == 204
    assert one.step("E", ASKING).json()["error"]["code"] == "UNKNOWN_EPISODE"
    begin(one, episode_id="F")
    other.step("F", DONE)
    one._runner.run(one.service.tend())
    assert one.service.sessions.find("F") is None
    assert one.state("F")["done"]


def test_only_servers_that_serve_the_same_share_a_store(api: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    first = api(store=path)
    api(store=path)
    with pytest.raises(StoreError, match=r"serves something else \(the catalog was .* and is .*ECOM_RLVE_STORE"):
        create_app(Settings(store=path), shop=Shop.open("synthetic:40:1"))
    with pytest.raises(StoreError, match="another server uses the store"):
        create_app(Settings(store=path, journal="memory"), shop=first.service._shop)


def test_episodes_of_another_catalog_are_lost_and_said_to_be(api: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    first = api(store=path)
    begin(first, episode_id="live")
    begin(first, episode_id="ended")
    first.step("ended", DONE)
    first.service.journal.close()
    first.service.database.close()
    app = create_app(Settings(store=path), shop=Shop.open("synthetic:400:1"))
    service = app.state.service
    try:
        assert service.sessions.active == 0
        assert service.journal.find("live") is None
        assert service.journal.find("ended") is not None
    finally:
        asyncio.run(service.aclose())


def test_a_socket_that_goes_while_the_store_cannot_be_read_leaves_what_another_one_took(
    pair: Callable[..., Any], runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair()
    asked = ResetRequest(env_id="CART", episode_id="taken"), ResetRequest(env_id="CART", episode_id="left")
    sockets = [runner.run(one.service.connect()) for _ in asked]
    for request, socket in zip(asked, sockets, strict=True):
        runner.run(one.service.reset(request, socket))
    runner.run(other.service.resume("taken", runner.run(other.service.connect())))

    def unreadable(_row: int) -> bool:
        raise StoreUnavailableError("Redis does not answer")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(one.service.journal, "is_elsewhere", unreadable)
        for socket in sockets:
            one.service.disconnect(socket)
    assert one.service.sessions.here == 0
    for http in (one, other):
        runner.run(http.service.tend())
    assert one.service.sessions.active == other.service.sessions.active == 1
    assert one.state("taken") == other.state("taken")
    assert other.call("GET", "/state", params={"episode_id": "left"}).status_code == 404
