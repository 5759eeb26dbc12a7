"""The six criteria by which ``openenv validate --url`` judges a running server."""

from __future__ import annotations

from typing import Any


def test_the_openapi_version_is_available(http: Any) -> None:
    document = http.call("GET", "/openapi.json").json()
    assert isinstance(document["info"]["version"], str)
    assert document["info"]["version"]


def test_health_is_healthy(http: Any) -> None:
    assert http.call("GET", "/health").json()["status"] == "healthy"


def test_metadata_has_a_name_and_a_description(http: Any) -> None:
    metadata = http.call("GET", "/metadata").json()
    assert isinstance(metadata["name"], str)
    assert isinstance(metadata["description"], str)


def test_the_schemas_are_objects_and_hold_what_is_sent(http: Any) -> None:
    schema = http.call("GET", "/schema").json()
    assert all(schema[part]["type"] == "object" for part in ("action", "observation", "state"))
    observation = http.reset(env_id="CART")["observation"]
    assert set(observation) <= set(schema["observation"]["properties"])
    assert set(schema["observation"]["required"]) <= set(observation)
    # "Action" would tell trainers that tools are called one message at a time.
    assert schema["action"]["title"] not in {"Action", "CallToolAction", "ListToolsAction"}


def test_an_empty_json_rpc_request_is_answered(http: Any) -> None:
    answer = http.call("POST", "/mcp", json={})
    assert (answer.status_code, answer.json()["jsonrpc"]) == (200, "2.0")


def test_reset_step_and_state_exist_together(http: Any) -> None:
    paths = http.call("GET", "/openapi.json").json()["paths"]
    for prefix in ("", "/envs/{env}"):
        assert {f"{prefix}/reset", f"{prefix}/step", f"{prefix}/state"} <= set(paths)
