"""Requests as an operator sees them: by route and never by address, over HTTP and sockets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.sync.client import connect

SECRET = "e" * 40


def counted(text: str, name: str = "ecom_rlve_request_seconds_count") -> dict[tuple[str, ...], float]:
    """Return what the figures say under a name, by the labels' values in the order of their names."""
    samples = (each for family in text_string_to_metric_families(text) for each in family.samples)
    return {
        tuple(value for _, value in sorted(each.labels.items())): each.value for each in samples if each.name == name
    }


def test_requests_are_counted_by_method_route_and_status(http: Any) -> None:
    http.reset(env_id="CART", episode_id=SECRET)
    http.step(SECRET, {})
    http.step(SECRET, {"message": "unknown field"})
    http.call("POST", f"/episodes/{SECRET}/finish")
    http.call("DELETE", f"/episodes/{SECRET}")
    http.call("GET", f"/state?episode_id={SECRET}")
    http.call("GET", f"/nothing/{SECRET}")
    http.call("PATCH", "/step")
    text = http.call("GET", "/metrics").text
    assert SECRET not in text
    assert counted(text) == {
        ("POST", "/reset", "200"): 1,
        ("POST", "/step", "200"): 1,
        ("POST", "/step", "422"): 1,
        ("POST", "/episodes/{episode_id}/finish", "200"): 1,
        ("DELETE", "/episodes/{episode_id}", "204"): 1,
        ("GET", "/state", "404"): 1,
        ("GET", "none", "404"): 1,
        ("PATCH", "/step", "405"): 1,
    }
    assert counted(text, "ecom_rlve_errors_total") == {
        ("VALIDATION_ERROR",): 1,
        ("UNKNOWN_EPISODE",): 1,
        ("NOT_FOUND",): 2,
    }


def test_a_route_of_one_environment_is_one_route(http: Any) -> None:
    for env in ("CART", "STATUS", "NONE"):
        http.call("POST", f"/envs/{env}/reset")
    told = counted(http.call("GET", "/metrics").text)
    assert told == {("POST", "/envs/{env}/reset", "200"): 2, ("POST", "/envs/{env}/reset", "404"): 1}


def test_an_unknown_method_adds_no_label(http: Any) -> None:
    http.call("BREW", "/step")
    assert counted(http.call("GET", "/metrics").text) == {("other", "/step", "405"): 1}


def test_refusals_for_want_of_places_are_counted(api: Any) -> None:
    http = api(max_sessions=1)
    http.reset(env_id="CART")
    assert http.call("POST", "/reset", json={"env_id": "CART"}).status_code == 503
    assert counted(http.call("GET", "/metrics").text, "ecom_rlve_errors_total") == {("CAPACITY_REACHED",): 1}


def test_a_request_without_a_token_is_counted(api: Any) -> None:
    http = api(token="t")
    assert http.call("POST", "/reset").status_code == 401
    figures = http.service.metrics.text()
    assert counted(figures, "ecom_rlve_errors_total") == {("UNAUTHORIZED",): 1}


def test_the_errors_of_json_rpc_are_counted_by_code(http: Any) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/close", "params": {"session_id": "none"}}
    assert http.call("POST", "/mcp", json=asked).status_code == 200
    assert counted(http.call("GET", "/metrics").text, "ecom_rlve_errors_total") == {("UNKNOWN_SESSION",): 1}


def test_frames_are_counted_by_kind(serve: Any) -> None:
    server = serve()
    sent = [{"type": "reset", "data": {"env_id": "CART"}}, {"type": "step", "data": {}}, {"type": SECRET}, [], "x"]
    with connect(server.ws) as socket:
        for frame in sent:
            socket.send(json.dumps(frame))
            socket.recv()
    text = server.service.metrics.text()
    frames = {labels: count for labels, count in counted(text).items() if labels[1] == "/ws"}
    assert frames == {
        ("reset", "/ws", "200"): 1,
        ("step", "/ws", "200"): 1,
        ("other", "/ws", "422"): 3,
    }
    assert SECRET not in text


@pytest.mark.parametrize("name", ["ecom_rlve_tool_calls_total", "ecom_rlve_search_seconds_count"])
def test_tools_are_counted_where_they_were_carried_out(http: Any, name: str) -> None:
    episode_id = http.reset(env_id="CART", difficulty=6)["observation"]["episode_id"]
    calls = [{"name": "catalog_search", "args": {"query": "gift"}}, {"name": "cart_view", "args": {}}]
    for _ in range(2):
        assert http.step(episode_id, {"tool_calls": calls}).status_code == 200
    wanted = {
        "ecom_rlve_tool_calls_total": {("CART", "catalog_search"): 2, ("CART", "cart_view"): 2},
        "ecom_rlve_search_seconds_count": {(): 2},
    }
    assert counted(http.call("GET", "/metrics").text, name) == wanted[name]


def test_episodes_are_counted_by_difficulty_and_outcome(http: Any) -> None:
    for difficulty, ends in ((0, True), (3, True), (3, False)):
        episode_id = http.reset(env_id="CART", difficulty=difficulty)["observation"]["episode_id"]
        path = f"/episodes/{episode_id}"
        http.call("POST", f"{path}/finish") if ends else http.call("DELETE", path)
    assert counted(http.call("GET", "/metrics").text, "ecom_rlve_episodes_total") == {
        ("0", "CART", "incorrect"): 1,
        ("3", "CART", "incorrect"): 1,
        ("3", "CART", "dropped"): 1,
    }


def test_expiries_are_counted_however_they_are_found(api: Any, clock: Any) -> None:
    http = api(idle_ttl_s=60)
    ids = [http.reset(env_id="CART")["observation"]["episode_id"] for _ in range(3)]
    clock.seconds += 61
    assert http.call("GET", f"/state?episode_id={ids[0]}").status_code == 404
    assert http.service.sessions.reap() == 2
    assert counted(http.call("GET", "/metrics").text, "ecom_rlve_expiries_total") == {(): 3}
