"""Episodes that are cut short: finished, they have a result; deleted, one or a whole run's, they have none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

VIEW = {"tool_calls": [{"name": "cart_view", "args": {}}]}
DONE = {"answer": {"done": True}}


def begin(http: Any, **body: Any) -> str:
    """Start an episode of CART and return its id."""
    return str(http.reset(env_id="CART", **body)["observation"]["episode_id"])


def finish(http: Any, episode_id: str, **body: Any) -> Any:
    return http.call("POST", f"/episodes/{episode_id}/finish", json=body)


def counted(http: Any, run_id: str) -> int:
    return int(http.call("GET", f"/curriculum/{run_id}").json()["counted"])


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_finished_episode_has_a_result(http: Any) -> None:
    episode_id = begin(http, seed=3, difficulty=2)
    http.step(episode_id, VIEW)
    answer = finish(http, episode_id)
    assert answer.status_code == 200
    body = answer.json()
    result = body["observation"]["result"]
    assert (body["done"], body["reward"], body["observation"]["reward"]) == (True, result["r_total"], result["r_total"])
    assert (result["termination"], result["turns"], result["r_task"]) == ("turn_budget", 1, -1.0)
    assert result["reason"] == "the client finished the episode"
    assert body["observation"]["user_message"] == ""
    assert http.state(episode_id)["done"] is True
    assert http.service.sessions.active == 0
    assert code(http.step(episode_id, VIEW)) == (409, "EPISODE_DONE")
    assert code(finish(http, episode_id)) == (409, "EPISODE_DONE")


def test_a_body_may_be_empty_and_must_be_right(http: Any) -> None:
    first, second = (begin(http, seed=3) for _ in range(2))
    assert http.call("POST", f"/episodes/{first}/finish").status_code == 200
    bodies: tuple[Any, ...] = ({"action": {}}, [], {"request_id": ""}, {"request_id": 5})
    for body in bodies:
        answer = http.call("POST", f"/episodes/{second}/finish", json=body)
        assert code(answer) == (422, "VALIDATION_ERROR")
    assert http.state(second)["done"] is False
    assert code(finish(http, "never-was")) == (404, "UNKNOWN_EPISODE")


def test_a_repeated_request_gets_the_stored_answer(http: Any) -> None:
    episode_id = begin(http, seed=3)
    first = finish(http, episode_id, request_id="f1")
    assert finish(http, episode_id, request_id="f1").content == first.content
    answer = http.step(episode_id, VIEW, request_id="f1")
    assert code(answer) == (409, "REQUEST_CONFLICT")


def test_an_action_cannot_finish(http: Any) -> None:
    episode_id = begin(http, seed=3)
    assert code(http.step(episode_id, {"finish": True})) == (422, "VALIDATION_ERROR")
    assert http.state(episode_id)["done"] is False


def test_its_trace_is_told(http: Any) -> None:
    episode_id = begin(http, seed=3)
    http.step(episode_id, VIEW)
    last = finish(http, episode_id).json()["observation"]
    lines = http.call("GET", f"/episodes/{episode_id}/trace").text.splitlines()
    assert json.loads(lines[-1])["action"] == {"finish": True}
    assert json.loads(json.loads(lines[-1])["observation"]) == last


@pytest.mark.parametrize("way", ["finish", "delete", "delete run"])
def test_it_counts_once_a_step_was_taken(http: Any, way: str) -> None:
    ends: dict[str, Callable[[str], Any]] = {
        "finish": lambda episode_id: finish(http, episode_id),
        "delete": lambda episode_id: http.call("DELETE", f"/episodes/{episode_id}"),
        "delete run": lambda _: http.call("DELETE", "/episodes", params={"run_id": "r"}),
    }
    ends[way](begin(http, run_id="r"))
    assert counted(http, "r") == 0
    episode_id = begin(http, run_id="r")
    http.step(episode_id, VIEW)
    ends[way](episode_id)
    assert counted(http, "r") == 1
    ends[way](episode_id)
    assert counted(http, "r") == 1


def test_a_socket_finishes_its_episode(server: Any) -> None:
    def ask(frame: dict[str, Any]) -> Any:
        peer.send(json.dumps(frame))
        return json.loads(peer.recv(timeout=5))

    with connect(server.ws) as peer:
        assert ask({"type": "finish"})["data"]["token"] == "NOT_RESET"
        ask({"type": "reset", "data": {"env_id": "CART", "seed": 1}})
        ask({"type": "step", "data": VIEW})
        assert ask({"type": "finish", "data": {"x": 1}})["data"]["token"] == "VALIDATION_ERROR"
        last = ask({"type": "finish", "data": {"request_id": "f1"}})
        assert last["type"] == "observation"
        assert (last["data"]["done"], last["data"]["observation"]["result"]["termination"]) == (True, "turn_budget")
        assert ask({"type": "finish", "data": {"request_id": "f1"}}) == last
        assert ask({"type": "finish"})["data"]["token"] == "EPISODE_DONE"
        assert ask({"type": "reset"})["data"]["done"] is False
        assert ask({"type": "finish"})["data"]["done"] is True


def test_the_live_episodes_of_a_run_are_listed_and_deleted(api: Callable[..., Any]) -> None:
    http = api(max_sessions=3)
    mine = [begin(http, run_id="mine", seed=seed, difficulty=1) for seed in (1, 2)]
    other = begin(http, run_id="other", seed=1)
    http.step(mine[1], VIEW)
    assert http.call("POST", "/reset", json={}).status_code == 503
    listed = http.call("GET", "/episodes", params={"run_id": "mine"}).json()
    assert [each["episode_id"] for each in listed] == mine
    assert [each["step_count"] for each in listed] == [0, 1]
    assert listed[0] == {
        "episode_id": mine[0],
        "env_id": "CART",
        "difficulty": 1,
        "seed": 1,
        "split": "train",
        "style": "turn",
        "format": "strict",
        "step_count": 0,
    }
    answer = http.call("DELETE", "/episodes", params={"run_id": "mine"})
    assert (answer.status_code, answer.json()) == (200, {"deleted": 2})
    assert http.service.sessions.active == 1
    assert code(http.step(mine[0], VIEW)) == (404, "UNKNOWN_EPISODE")
    assert http.step(other, VIEW).status_code == 200
    assert http.call("GET", "/episodes", params={"run_id": "mine"}).json() == []
    assert http.call("DELETE", "/episodes", params={"run_id": "mine"}).json() == {"deleted": 0}
    assert len(begin(http, run_id="mine")) == 32


def test_what_has_ended_or_expired_is_not_live(api: Callable[..., Any], clock: Any) -> None:
    http = api(idle_ttl_s=60)
    ended, idle = begin(http, run_id="r", seed=1), begin(http, run_id="r", seed=2)
    http.step(ended, DONE)
    assert [each["episode_id"] for each in http.call("GET", "/episodes", params={"run_id": "r"}).json()] == [idle]
    clock.seconds += 61
    assert http.call("DELETE", "/episodes", params={"run_id": "r"}).json() == {"deleted": 0}


def test_an_episode_of_a_group_or_with_fixed_difficulty_belongs_to_its_run(http: Any) -> None:
    begin(http, run_id="r", group_id="g")
    begin(http, run_id="r", difficulty=0)
    begin(http, run_id="r", split="eval")
    assert http.call("DELETE", "/episodes", params={"run_id": "r"}).json() == {"deleted": 3}


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("params", [{}, {"run_id": ""}])
def test_the_run_must_be_named(http: Any, method: str, params: dict[str, str]) -> None:
    begin(http)
    assert code(http.call(method, "/episodes", params=params)) == (422, "VALIDATION_ERROR")
    assert http.service.sessions.active == 1


def test_deleting_a_run_ends_what_its_sockets_play_and_keeps_the_sockets(server: Any) -> None:
    with connect(server.ws) as peer:
        peer.send(json.dumps({"type": "reset", "data": {"env_id": "CART", "run_id": "crashed"}}))
        peer.recv(timeout=5)
        deleted = httpx.delete(f"{server.http}/episodes", params={"run_id": "crashed"}).json()
        assert deleted == {"deleted": 1}
        peer.send(json.dumps({"type": "step", "data": VIEW}))
        assert json.loads(peer.recv(timeout=5))["data"]["token"] == "NOT_RESET"
