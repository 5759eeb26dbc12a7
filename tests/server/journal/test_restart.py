"""A server with a journal that ends and starts again: every episode is where it was, to the byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from ecom_rlve.envs.episode.trace import Trace, replay
from ecom_rlve.envs.world.shop import Shop

DONE = {"answer": {"done": True}}
ASKING = {"assistant_message": "Hello.", "tool_calls": [{"name": "cart_view", "args": {}}]}
UNAVAILABLE = (503, "STORE_UNAVAILABLE")


@pytest.fixture(params=["sqlite", pytest.param("redis", marks=pytest.mark.slow)])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path | str:
    """A new store: a file, or a database in Redis, whose copy lies there."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "store.sqlite3" if request.param == "sqlite" else str(request.getfixturevalue("redis_url"))


def kill(http: Any) -> None:
    """Let a server's store go as a killed process does: nothing more is written."""
    service = http.service
    service.journal._writer.close()
    service.journal._database.close()
    service.database.close()


def begin(http: Any, **body: Any) -> Any:
    return http.reset(**{"env_id": "CART", "run_id": "r", "include": [], **body})


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_live_episode_goes_on_and_its_stored_answers_are_the_same(api: Callable[..., Any], path: Path) -> None:
    first = api(store=path)
    opening = begin(first, episode_id="E", request_id="a reset that is drawn at random")
    answers = [first.step("E", ASKING, request_id=f"r{number}").content for number in range(2)]
    state = first.state("E")
    kill(first)
    second = api(store=path)
    assert second.service.sessions.active == 1
    assert second.state("E") == state
    assert begin(second, episode_id="E", request_id="a reset that is drawn at random") == opening
    again = [second.step("E", ASKING, request_id=f"r{number}").content for number in range(2)]
    assert again == answers
    assert refusal(second.step("E", DONE, request_id="r0")) == (409, "REQUEST_CONFLICT")
    last = second.step("E", DONE, request_id="last").json()
    assert last["done"]
    assert second.call("GET", "/curriculum/r").json()["counted"] == 1
    assert second.service.sessions.active == 0


@pytest.mark.parametrize("env_id", ["CART", "RETURN", "STATUS", "POLICY", "BUNDLE", "JOURNEY"])
def test_a_restart_between_any_two_steps_changes_nothing(
    api: Callable[..., Any], path: Path, shop: Shop, env_id: str
) -> None:
    told, traces = [], []
    for restarts in (False, True):
        http = api(store=path)
        name = f"{env_id} {restarts}"
        asked = {"env_id": env_id, "seed": 5, "difficulty": 3, "episode_id": name, "style": "tool"}
        told.append([json.dumps(begin(http, **asked))])
        record = http._runner.run(http.service.record(name))
        while True:
            answer = http.step(name, record.episode.solve(), request_id=str(len(told[-1])))
            told[-1].append(answer.text)
            if answer.json()["done"]:
                break
            if restarts:
                kill(http)
                http = api(store=path)
            record = http._runner.run(http.service.record(name))
        traces.append(http.call("GET", f"/episodes/{name}/trace").text)
        kill(http)
    assert [each.replace(f"{env_id} True", f"{env_id} False") for each in told[1]] == told[0]
    trace = Trace.load(traces[1])
    assert trace.rewards[-1] == json.loads(told[1][-1])["reward"]
    replay(trace, shop)


def test_an_ended_episode_can_be_read_after_a_restart(api: Callable[..., Any], path: Path, shop: Shop) -> None:
    first = api(store=path, reveal_goal=True)
    begin(first, episode_id="E")
    first.step("E", ASKING)
    first.call("POST", "/episodes/E/finish", json={"request_id": "the end"})
    trace = first.call("GET", "/episodes/E/trace").text
    begin(first, episode_id="broken")
    prose = {"episode_id": "broken", "action": {"text": "prose and \u2028 that is no action"}}
    assert first.call("POST", "/step", content=json.dumps(prose)).status_code == 200
    broken = first.call("GET", "/episodes/broken/trace").text
    kill(first)
    # What was revealed then is revealed now.
    second = api(store=path)
    assert second.call("GET", "/episodes/E/trace").text == trace
    assert second.call("GET", "/episodes/broken/trace").text == broken
    replay(Trace.load(trace), shop)
    assert refusal(second.step("E", ASKING)) == (409, "EPISODE_DONE")
    assert second.call("POST", "/episodes/E/finish", json={"request_id": "the end"}).json()["done"]
    assert begin(second, episode_id="E")["observation"]["turn"] == 0
    assert second.call("DELETE", "/episodes/E").status_code == 204
    assert second.call("GET", "/state", params={"episode_id": "E"}).status_code == 404


def test_groups_and_counts_go_on(api: Callable[..., Any], path: Path) -> None:
    first = api(store=path)
    members = [begin(first, group_id="g", episode_id=f"g{number}")["metadata"] for number in range(2)]
    assert [each["group_member"] for each in members] == [1, 2]
    first.step("g0", DONE)
    kill(first)
    second = api(store=path)
    (frontier,) = second.call("GET", "/curriculum/r").json()["frontiers"]
    assert (frontier["live_seeds"], frontier["ready_seeds"]) == (1, 0)
    third = begin(second, group_id="g", episode_id="g2")["metadata"]
    assert (third["group_member"], third["seed"]) == (3, members[0]["seed"])
    listed = second.call("GET", "/episodes", params={"run_id": "r"}).json()
    assert [(each["episode_id"], each["step_count"]) for each in listed] == [("g1", 0), ("g2", 0)]
    second.step("g1", ASKING)
    second.step("g2", DONE)
    assert second.call("DELETE", "/episodes", params={"run_id": "r"}).json() == {"deleted": 1}
    run = second.call("GET", "/curriculum/r").json()
    assert (run["counted"], run["frontiers"][0]["live_seeds"], run["frontiers"][0]["ready_seeds"]) == (3, 0, 1)
    assert second.service.sessions.active == 0


def test_an_action_is_in_the_journal_before_its_answer(api: Callable[..., Any], path: Path) -> None:
    http = api(store=path)
    begin(http, episode_id="E")
    for number in (1, 2):
        http.step("E", ASKING)
        assert http.service.journal.head(http.service.journal.find("E").row) == number


def test_nobody_uses_an_episode_for_long_and_it_expires_once(api: Callable[..., Any], path: Path, clock: Any) -> None:
    http = api(store=path, idle_ttl_s=60)
    for name in ("played", "read", "left"):
        begin(http, episode_id=name)
    http.step("left", ASKING)
    clock.seconds += 50
    http.step("played", ASKING)
    http.state("read")
    assert http._runner.run(http.service.tend()) == 0
    clock.seconds += 50
    assert http._runner.run(http.service.tend()) == 1
    assert refusal(http.step("left", ASKING)) == (404, "UNKNOWN_EPISODE")
    assert [http.step(name, ASKING).status_code for name in ("played", "read")] == [200, 200]
    assert http.call("GET", "/curriculum/r").json()["counted"] == 1
    assert http.service.sessions.active == 2


def test_time_without_a_server_expires_nothing(api: Callable[..., Any], path: Path, clock: Any) -> None:
    first = api(store=path, idle_ttl_s=60)
    begin(first, episode_id="E")
    kill(first)
    for moment in (1e6, 0.0):
        clock.seconds = moment
        http = api(store=path, idle_ttl_s=60)
        assert http._runner.run(http.service.tend()) == 0
        assert http.step("E", ASKING).status_code == 200
        kill(http)


def test_ended_episodes_are_kept_up_to_what_the_operator_allows(api: Callable[..., Any], path: Path) -> None:
    http = api(store=path, journal_episodes=3, max_ended_episodes=0)
    for number in range(5):
        begin(http, episode_id=str(number))
        http.step(str(number), DONE)
    begin(http, episode_id="live")
    http._runner.run(http.service.tend())
    found = [http.call("GET", f"/episodes/{number}/trace").status_code for number in range(5)]
    assert found == [404, 404, 200, 200, 200]
    assert http.step("live", ASKING).status_code == 200


def test_a_full_disk_refuses_a_step_and_other_episodes_go_on_when_there_is_room(
    api: Callable[..., Any], path: Path
) -> None:
    http = api(store=path)
    for name in ("A", "B"):
        begin(http, episode_id=name)
    http.step("A", ASKING)
    before = http.state("A")
    writing = http.service.journal._database
    (pages,) = writing.row("PRAGMA page_count")
    writing.row(f"PRAGMA max_page_count = {pages}")
    long = {"assistant_message": "x" * 20_000}
    answers = http.together(
        *(("POST", "/step", {"episode_id": name, "action": long, "request_id": "long"}) for name in ("A", "B"))
    )
    assert [refusal(answer) for answer in answers] == [UNAVAILABLE] * 2
    assert refusal(http.call("POST", "/reset", json={"episode_id": "C", "group_id": "g" * 9000})) in (
        UNAVAILABLE,
        (422, "VALIDATION_ERROR"),
    )
    assert http.state("A") == before
    writing.row("PRAGMA max_page_count = 1000000")
    assert [http.step(name, long, request_id="long").status_code for name in ("A", "B")] == [200, 200]
    assert http.state("A")["step_count"] == 2


def test_an_episode_whose_journal_is_damaged_is_lost_alone(api: Callable[..., Any], path: Path) -> None:
    first = api(store=path)
    for name in ("A", "B", "C"):
        begin(first, episode_id=name)
        first.step(name, ASKING)
    first.service.database.row("UPDATE actions SET answer = x'00' WHERE episode = 1")
    first.service.database.row("UPDATE actions SET action = 'no json' WHERE episode = 2")
    kill(first)
    second = api(store=path)
    assert [second.step(name, ASKING).status_code for name in ("A", "A", "B", "C")] == [404, 404, 404, 200]
    second.step("C", DONE)
    run = second.call("GET", "/curriculum/r").json()
    assert (run["counted"], run["frontiers"][0]["live_seeds"]) == (1, 0)


def test_what_an_episode_takes_is_counted_in_bytes(api: Callable[..., Any], path: Path | str) -> None:
    http = api(store=path)
    http.reset(env_id="CART", episode_id="E")
    http.step("E", {"assistant_message": "尺" * 1000, "answer": {"done": True}})
    episodes, size = http.service.journal._reading.kept()
    assert episodes == 1
    assert size > len("尺".encode()) * 1000
