"""JSON-RPC at ``/mcp``: always an answer, always HTTP 200."""

from __future__ import annotations

from typing import Any

import pytest

from ecom_rlve.envs.registry import environments


def ask(http: Any, message: Any, path: str = "/mcp") -> Any:
    answer = http.call("POST", path, json=message)
    assert answer.status_code == 200
    assert answer.json()["jsonrpc"] == "2.0"
    return answer.json()


@pytest.mark.parametrize(
    ("message", "code", "request_id"),
    [
        ({}, -32600, None),
        ([], -32600, None),
        ({"jsonrpc": "2.0", "id": {}, "method": "tools/list"}, -32600, None),
        ({"jsonrpc": "1.0", "id": 1, "method": "tools/list"}, -32600, None),
        ({"jsonrpc": "2.0", "id": 1, "method": "resources/list"}, -32601, 1),
        ({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {}}, -32602, "a"),
        ({"jsonrpc": "2.0", "id": "a", "method": "openenv/session/close", "params": {}}, -32602, "a"),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"session_id": "gone"}}, -32602, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": [1]}, -32602, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"env_id": 5}}, -32602, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"env_id": "NOPE"}}, -32602, 1),
    ],
)
def test_a_wrong_request_gets_the_protocols_code(http: Any, message: Any, code: int, request_id: Any) -> None:
    answer = ask(http, message)
    assert (answer["error"]["code"], answer["id"]) == (code, request_id)


def test_a_body_that_is_not_json_gets_the_protocols_code(http: Any) -> None:
    answer = http.call("POST", "/mcp", content=b"{NaN")
    assert (answer.status_code, answer.json()["error"]["code"]) == (200, -32700)


def test_the_tools_are_listed_of_one_environment_or_of_all(http: Any) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    of_all = ask(http, request)["result"]["tools"]
    of_cart = ask(http, {**request, "params": {"env_id": "e_cart"}})["result"]["tools"]
    assert ask(http, request, "/envs/CART/mcp")["result"]["tools"] == of_cart
    assert [tool["name"] for tool in of_cart] == [*environments()["CART"].about.tool_names, "say", "submit_answer"]
    names = [tool["name"] for tool in of_all]
    assert len(names) == len(set(names))
    own = {name for each in environments().values() for name in each.about.tool_names}
    assert set(names) == own | {"say", "submit_answer"}
    assert all(tool["inputSchema"]["type"] == "object" and tool["description"] for tool in of_all)


def test_a_client_of_mcp_is_greeted(http: Any) -> None:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}}
    greeting = ask(http, hello)["result"]
    assert (greeting["protocolVersion"], greeting["capabilities"]) == ("2025-03-26", {"tools": {}})
    assert (
        ask(http, {**hello, "params": {"protocolVersion": "1999-01-01"}})["result"]["protocolVersion"] == "2025-11-25"
    )
    assert ask(http, {"jsonrpc": "2.0", "id": 2, "method": "ping"})["result"] == {}
    noted = http.call("POST", "/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (noted.status_code, noted.content) == (202, b"")
