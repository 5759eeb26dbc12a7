"""Actions as clients send them: a mistake of the client's is free, a chat API's message is read (SPEC §2.2)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from websockets.sync.client import connect

CALL = {"id": "call_7", "type": "function", "function": {"name": "cart_view", "arguments": "{}"}}
MISTAKES: dict[str, dict[str, Any]] = {
    "an action in the action": {"action": {"assistant_message": "Hello"}},
    "a message": {"message": "Hello"},
    "a call of the stock client": {"type": "call_tool", "tool_name": "cart_view", "arguments": {}},
    "text beside fields": {"text": "{}", "assistant_message": "Hello"},
    "a message that is no string": {"assistant_message": ["Hello"]},
    "calls that are no list": {"tool_calls": {"name": "cart_view"}},
    "a user's message": {"role": "user", "content": "Hello"},
    "an open turn in style turn": {"tool_calls": [CALL], "end_turn": False},
    "metadata that are no object": {"assistant_message": "Hello", "metadata": "r1"},
}


@pytest.mark.parametrize("action", MISTAKES.values(), ids=MISTAKES)
def test_a_clients_mistake_is_told_and_free(http: Any, action: dict[str, Any]) -> None:
    episode_id = http.reset(env_id="CART", seed=1, difficulty=1)["observation"]["episode_id"]
    for request_id in ("r1", None):
        answer = http.step(episode_id, action, request_id=request_id)
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "VALIDATION_ERROR")
    assert http.state(episode_id)["step_count"] == 0
    corrected = http.step(episode_id, {"assistant_message": "Hello"}, request_id="r1").json()
    assert (corrected["done"], corrected["reward"], corrected["observation"]["turn"]) == (False, 0.0, 1)


def test_over_a_socket_too(server: Any) -> None:
    with connect(server.ws) as peer:
        peer.send(json.dumps({"type": "reset", "data": {"env_id": "CART", "seed": 1}}))
        peer.recv(timeout=5)
        for action in MISTAKES.values():
            peer.send(json.dumps({"type": "step", "data": action}))
            assert json.loads(peer.recv(timeout=5))["data"]["token"] == "VALIDATION_ERROR"
        peer.send(json.dumps({"type": "step", "data": {"assistant_message": "Hello"}}))
        assert json.loads(peer.recv(timeout=5))["data"]["done"] is False


def test_a_whole_message_of_a_chat_api_is_a_step_and_its_calls_get_their_results(http: Any) -> None:
    episode_id = http.reset(env_id="CART", seed=1, style="tool")["observation"]["episode_id"]
    message = {"role": "assistant", "content": None, "tool_calls": [CALL], "refusal": None, "annotations": []}
    seen = http.step(episode_id, message).json()["observation"]
    assert seen["tool_results"][0]["tool_call_id"] == "call_7"
    assert seen["turn"] == 0, "calls alone leave the turn open"
    conversation = http.state(episode_id)["messages"]
    assert json.loads(conversation[-2]["content"]) == message
    assert json.loads(conversation[-1]["content"])["tool_call_id"] == "call_7"
    submit = {**CALL, "function": {"name": "submit_answer", "arguments": "{}"}}
    assert http.step(episode_id, {**message, "tool_calls": [submit]}).json()["done"] is True


def test_what_the_model_broke_in_it_is_the_models(http: Any) -> None:
    episode_id = http.reset(env_id="CART", seed=1)["observation"]["episode_id"]
    broken = {**CALL, "function": {"name": "cart_view", "arguments": '{"limit"'}}
    last = http.step(episode_id, {"role": "assistant", "content": None, "tool_calls": [broken]}).json()
    assert (last["reward"], last["observation"]["result"]["termination"]) == (-1.0, "format_failure")
