"""A model behind a chat API as the policy, and Miles' agent function, which is little more."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from ecom_rlve import EcomEnv
from ecom_rlve.client.adapters.chat_model import ChatModel
from ecom_rlve.client.adapters.miles import make_agent, reward
from ecom_rlve.client.adapters.openai_tools import run_episode

Message = dict[str, Any]
TOOLS = [{"type": "function", "function": {"name": "cart_view"}}]
ROW = {"env_id": "CART", "difficulty": 1, "seed": 5, "run_id": "miles", "answer": "a column of the trainer's"}


def asked(answer: httpx.Response, **request: Any) -> tuple[Mapping[str, Any] | None, httpx.Request]:
    """Return what a model says when its API answers so, and what the API was sent."""
    seen: list[httpx.Request] = []

    def handle(sent: httpx.Request) -> httpx.Response:
        seen.append(sent)
        return answer

    async def ask() -> Mapping[str, Any] | None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(handle)) as http:
            return await ChatModel(http, "http://model/v1/", **request)([{"role": "user", "content": "Hi"}], TOOLS)

    return asyncio.run(ask()), seen[0]


def choice(reason: str) -> httpx.Response:
    return httpx.Response(200, json={"choices": [{"message": {"content": "Hello"}, "finish_reason": reason}]})


def test_the_model_is_sent_conversation_tools_and_what_was_given_with_it() -> None:
    message, sent = asked(choice("stop"), token="secret", model="m", temperature=0.5)
    assert message == {"content": "Hello"}
    assert (str(sent.url), sent.headers["authorization"]) == ("http://model/v1/chat/completions", "Bearer secret")
    body = json.loads(sent.content)
    assert body == {
        "model": "m",
        "temperature": 0.5,
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": TOOLS,
    }


def test_a_message_that_was_cut_is_none() -> None:
    assert asked(choice("length"), model="m")[0] is None


def test_a_context_that_is_full_ends_the_policy_and_other_refusals_are_raised() -> None:
    full = {"error": {"message": "This model's maximum context length is 8192 tokens."}}
    assert asked(httpx.Response(400, json=full), model="m")[0] is None
    with pytest.raises(httpx.HTTPStatusError):
        asked(httpx.Response(400, json={"error": {"message": "unknown model"}}), model="m")
    with pytest.raises(httpx.HTTPStatusError):
        asked(httpx.Response(500, text="maximum context length"), model="m")


def test_miles_agent_returns_the_server_s_reward(
    wide_url: str,
    winner: Callable[[Mapping[str, Any]], Any],
    scripted_model: Callable[..., AbstractContextManager[str]],
) -> None:
    with EcomEnv(wide_url) as env:
        record = run_episode(env, winner(ROW), ROW)
    with scripted_model([record.messages]) as url:
        added = asyncio.run(make_agent(wide_url)(url.removesuffix("/v1"), "a prompt", {"temperature": 1}, ROW))
    assert added == {"reward": record.reward, "is_correct": True, "failure": None}
    assert asyncio.run(reward(None, SimpleNamespace(metadata=added))) == record.reward


def test_miles_agent_returns_no_reward_where_the_server_failed() -> None:
    agent = make_agent("http://127.0.0.1:1", retry_for=0)
    added = asyncio.run(agent("http://127.0.0.1:1", "a prompt", {}, ROW))
    assert (added["reward"], added["is_correct"]) == (None, None)
    assert "no answer from" in added["failure"]
    assert asyncio.run(reward(None, SimpleNamespace(metadata=added))) is None
