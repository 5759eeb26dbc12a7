"""Sessions of clients that call tools: whole episodes by JSON-RPC, places, and whose mistake costs what."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as connect_within

from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop

NEVER_S = 120.0
"""After which a test gives up on an answer; none of them takes a part of it."""
connect = partial(connect_within, open_timeout=NEVER_S, ping_interval=None)
CART = {"env_id": "CART", "difficulty": 0, "seed": 3}


class Rpc:
    """Asks by JSON-RPC over HTTP."""

    def __init__(self, http: Any) -> None:
        self.http = http

    def answer(self, method: str, **params: Any) -> Any:
        """Return the whole answer."""
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        answer = self.http.call("POST", "/mcp", json=message).json()
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", 7)
        return answer

    def result(self, method: str, **params: Any) -> Any:
        """Return the result; there must be one."""
        answer = self.answer(method, **params)
        assert "error" not in answer, answer
        return answer["result"]

    def refusal(self, method: str, **params: Any) -> tuple[int, str]:
        """Return the numbers and the code of an error; there must be one."""
        error = self.answer(method, **params)["error"]
        assert error["message"]
        return error["code"], error["data"]["code"]

    def begin(self, **reset: Any) -> str:
        """Create a session with an episode; return its id."""
        session_id: str = self.result("openenv/session/create", reset=reset or CART)["session_id"]
        return session_id

    def call(self, session_id: str, tool: str, **arguments: Any) -> Any:
        """Call a tool; return its result."""
        return self.result("tools/call", session_id=session_id, name=tool, arguments=arguments)


@pytest.fixture(scope="session")
def shop(wide_shop: Shop) -> Shop:
    """Large enough for every environment."""
    return wide_shop


@pytest.fixture
def rpc(http: Any) -> Rpc:
    return Rpc(http)


def calls_of(action: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield an action as calls of one tool each."""
    yield from ((each["name"], each.get("args", {})) for each in action.get("tool_calls", ()))
    if action.get("assistant_message"):
        yield "say", {"message": action["assistant_message"]}
    if action.get("answer"):
        yield "submit_answer", {name: value for name, value in action["answer"].items() if name != "done"}


@pytest.mark.parametrize("env_id", sorted(environments()))
def test_a_solution_played_by_calls_of_tools_wins(rpc: Rpc, env_id: str) -> None:
    started = rpc.result("openenv/session/create", reset={"env_id": env_id, "difficulty": 0, "seed": 5})
    session_id, opening = started["session_id"], started["observation"]
    assert opening["user_message"]
    assert "tools" not in opening
    assert started["metadata"]["style"] == "tool"
    offered = {tool["name"] for tool in rpc.result("tools/list", session_id=session_id)["tools"]}
    assert offered == {*environments()[env_id].about.tool_names, "say", "submit_answer"}
    episode = rpc.http._runner.run(rpc.http.service.record(opening["episode_id"])).episode
    seen = opening
    while not seen["done"]:
        for name, arguments in calls_of(episode.solve()):
            assert name in offered
            result = rpc.call(session_id, name, **arguments)
            seen = result["structuredContent"]
            assert json.loads(result["content"][0]["text"]) == result["data"] == seen
            assert result["isError"] is False
    assert (seen["result"]["is_correct"], seen["reward"]) == (True, seen["result"]["r_total"])
    assert seen["result"]["style"] == "tool"


def test_a_session_takes_a_place_until_it_is_closed(api: Callable[..., Any]) -> None:
    http = api(max_sessions=1)
    rpc, sessions = Rpc(http), http.service.sessions
    session_id = rpc.result("openenv/session/create")["session_id"]
    assert sessions.active == 1
    assert rpc.refusal("openenv/session/create") == (-32000, "CAPACITY_REACHED")
    assert rpc.answer("openenv/session/create")["error"]["data"]["max_sessions"] == 1
    assert rpc.result("openenv/session/close", session_id=session_id) == {"session_id": session_id, "closed": True}
    assert sessions.active == 0
    assert rpc.refusal("openenv/session/close", session_id=session_id) == (-32602, "UNKNOWN_SESSION")
    assert rpc.refusal("tools/call", session_id=session_id, name="cart_view") == (-32602, "UNKNOWN_SESSION")


@pytest.mark.parametrize(
    ("reset", "code"),
    [({"env_id": "NOPE"}, "UNKNOWN_ENV"), ({"style": "turn"}, "VALIDATION_ERROR"), ({"seed": -1}, "VALIDATION_ERROR")],
)
def test_a_session_that_cannot_begin_takes_no_place(rpc: Rpc, reset: Any, code: str) -> None:
    assert rpc.refusal("openenv/session/create", reset=reset)[1] == code
    assert rpc.http.service.sessions.active == 0


def test_a_session_expires_as_an_http_episode_does(rpc: Rpc, clock: Any) -> None:
    sessions = rpc.http.service.sessions
    used, unused = rpc.begin(), rpc.begin()
    clock.seconds = 3000.0
    rpc.call(used, "cart_view")
    clock.seconds = 4000.0
    assert sessions.reap() == 0
    assert sessions.active == 1
    assert rpc.call(used, "cart_view")["isError"] is False
    assert rpc.refusal("tools/call", session_id=unused, name="cart_view") == (-32602, "UNKNOWN_SESSION")
    clock.seconds = 8000.0
    assert rpc.refusal("tools/list", session_id=used) == (-32602, "UNKNOWN_SESSION")
    assert (sessions.active, sessions.readable) == (0, 0)


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("fly_away", {}, "no tool 'fly_away' here"),
        ("catalog_search", {"query": "lamp", "limit": "many"}, "catalog_search: limit"),
        ("say", {}, "say: message"),
        ("say", {"message": 5}, "say: message"),
        ("submit_answer", {"no_such_field": 1}, "answer: no_such_field"),
    ],
)
def test_the_models_mistake_ends_the_episode(rpc: Rpc, tool: str, arguments: Any, told: str) -> None:
    session_id = rpc.begin()
    result = rpc.call(session_id, tool, **arguments)
    seen = result["structuredContent"]
    assert (result["isError"], seen["done"], seen["reward"]) == (True, True, -1.0)
    assert seen["result"]["termination"] == "format_failure"
    assert seen["result"]["reason"].startswith(told)
    assert rpc.refusal("tools/call", session_id=session_id, name="cart_view") == (-32000, "EPISODE_DONE")
    assert rpc.http.service.sessions.active == 1


@pytest.mark.parametrize(
    "params",
    [{}, {"name": ""}, {"name": 5}, {"name": "cart_view", "arguments": [1]}, {"name": "cart_view", "request_id": ""}],
)
def test_the_clients_mistake_costs_nothing(rpc: Rpc, params: Any) -> None:
    session_id = rpc.begin()
    assert rpc.refusal("tools/call", session_id=session_id, **params) == (-32602, "VALIDATION_ERROR")
    seen = rpc.call(session_id, "cart_view")["structuredContent"]
    assert (seen["done"], seen["turn"]) == (False, 0)


def test_a_session_without_an_episode_says_so(rpc: Rpc) -> None:
    session_id = rpc.result("openenv/session/create")["session_id"]
    assert rpc.refusal("tools/call", session_id=session_id, name="cart_view") == (-32000, "NOT_RESET")
    listed = {tool["name"]: tool for tool in rpc.result("tools/list", session_id=session_id)["tools"]}
    assert listed["submit_answer"]["inputSchema"]["additionalProperties"] is True


def test_a_refusal_of_the_store_is_a_result_marked_as_an_error(rpc: Rpc) -> None:
    session_id = rpc.begin()
    result = rpc.call(session_id, "cart_add", product_id="B000000000")
    (only,) = result["structuredContent"]["tool_results"]
    assert (result["isError"], only["code"], result["structuredContent"]["done"]) == (True, "UNKNOWN_PRODUCT", False)


def test_calls_leave_the_turn_open_and_what_is_said_closes_it(rpc: Rpc) -> None:
    session_id = rpc.begin()
    viewed = rpc.call(session_id, "cart_view")["structuredContent"]
    assert (viewed["turn"], viewed["user_message"]) == (0, "")
    said = rpc.call(session_id, "say", message="What else can I do for you?")["structuredContent"]
    assert (said["turn"], said["tool_results"]) == (1, [])
    asked = rpc.call(session_id, "ask_user", question="Which brand do you want?")["structuredContent"]
    assert asked["turn"] == 2
    assert asked["user_message"]


def test_a_repeated_request_id_calls_no_tool_twice(rpc: Rpc) -> None:
    session_id = rpc.begin()
    first = rpc.result("tools/call", session_id=session_id, name="cart_view", request_id="r1")
    assert rpc.result("tools/call", session_id=session_id, name="cart_view", request_id="r1") == first
    wanted = {"session_id": session_id, "name": "datetime_now", "request_id": "r1"}
    assert rpc.refusal("tools/call", **wanted) == (-32000, "REQUEST_CONFLICT")


def ask(peer: ClientConnection, kind: str, data: Any = None, **more: Any) -> Any:
    peer.send(json.dumps({"type": kind, **({} if data is None else {"data": data}), **more}))
    return json.loads(peer.recv(timeout=NEVER_S))


def rpc_frame(peer: ClientConnection, method: str, **params: Any) -> Any:
    answer = ask(peer, "mcp", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    assert answer["type"] == "mcp"
    return answer["data"]


def created(server: Any) -> str:
    with connect(server.ws) as peer:
        session_id = rpc_frame(peer, "openenv/session/create")["result"]["session_id"]
    return str(session_id)


def over_http(server: Any, method: str, **params: Any) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return httpx.post(f"{server.http}/mcp", json=message, timeout=NEVER_S).json()


def test_a_socket_attaches_to_a_session_which_outlives_it(server: Any) -> None:
    sessions = server.service.sessions
    before = sessions.active
    session_id = over_http(server, "openenv/session/create")["result"]["session_id"]
    url = f"{server.ws}?session_id={session_id}"
    with connect(url) as peer:
        opening = ask(peer, "reset", CART)["data"]
        assert opening["metadata"]["style"] == "tool"
        step = ask(peer, "step", {"type": "call_tool", "tool_name": "cart_view", "arguments": {}})["data"]
        assert (step["observation"]["tool_name"], step["reward"]) == ("cart_view", 0.0)
        assert step["observation"]["result"]["tool_results"][0]["name"] == "cart_view"
        listed = ask(peer, "step", {"type": "list_tools"})["data"]["observation"]["tools"]
        assert {"say", "submit_answer", "cart_add"} <= {tool["name"] for tool in listed}
        assert sessions.active == before + 1
    seen = over_http(server, "tools/call", session_id=session_id, name="cart_view")["result"]["structuredContent"]
    assert seen["episode_id"] == opening["observation"]["episode_id"]
    with connect(url) as peer:
        assert ask(peer, "state")["data"]["step_count"] == 2
        assert over_http(server, "openenv/session/close", session_id=session_id)["result"]["closed"] is True
        assert sessions.active == before
        assert ask(peer, "state")["data"]["token"] == "NOT_RESET"
        assert ask(peer, "reset", CART)["data"]["token"] == "UNKNOWN_SESSION"
    assert sessions.active == before


def test_a_socket_for_an_unknown_session_is_told_and_closed(server: Any) -> None:
    before = server.service.sessions.active
    with connect(f"{server.ws}?session_id=gone") as peer:
        assert json.loads(peer.recv(timeout=NEVER_S))["data"]["token"] == "UNKNOWN_SESSION"
        peer.send('{"type": "state"}')
        with pytest.raises(ConnectionClosed):
            peer.recv(timeout=NEVER_S)
    assert server.service.sessions.active == before


def test_a_session_of_a_socket_goes_with_it(server: Any) -> None:
    session_id = created(server)
    server.until(lambda: over_http(server, "tools/list", session_id=session_id).get("error") is not None)
    assert over_http(server, "tools/list", session_id=session_id)["error"]["data"]["code"] == "UNKNOWN_SESSION"


def test_frames_call_tools_in_the_sockets_own_episode(server: Any) -> None:
    with connect(server.ws) as peer:
        assert ask(peer, "reset", CART)["type"] == "observation"
        assert rpc_frame(peer, "tools/call", name="cart_view")["error"]["data"]["code"] == "VALIDATION_ERROR"
        ask(peer, "reset", {**CART, "style": "tool"})
        result = rpc_frame(peer, "tools/call", name="cart_view")["result"]
        assert result["structuredContent"]["tool_results"][0]["name"] == "cart_view"
        own = rpc_frame(peer, "openenv/session/create")["result"]["session_id"]
        refused = rpc_frame(peer, "openenv/session/close", session_id=own)["error"]
        assert refused["data"]["code"] == "VALIDATION_ERROR"
        noted = ask(peer, "mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert noted == {"type": "mcp", "data": None}
