"""Whole episodes as a loop of OpenAI tool calls, against the real server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from ecom_rlve import AsyncEcomEnv, EcomEnv
from ecom_rlve.client import EpisodeLostError, InvalidRequestError, ServerUnavailableError, UnservableError
from ecom_rlve.client.adapters.openai_tools import run_episode, run_episode_async
from ecom_rlve.models import Termination

if TYPE_CHECKING:
    from fastapi import FastAPI

    Message = dict[str, Any]
    Policy = Callable[[list[Message], list[Message]], Message]
    Maker = Callable[[Mapping[str, Any]], Policy]

ENVIRONMENTS = ("PD", "SUB", "CART", "RETURN", "STATUS", "POLICY", "BUNDLE", "JOURNEY")


def row_of(env_id: str, difficulty: int = 2, seed: int = 11) -> dict[str, Any]:
    """Return a row as data sets have them: with columns of the trainer's own, one of them no JSON."""
    return {"env_id": env_id, "difficulty": difficulty, "seed": seed, "prompt": object(), "run_id": f"run {env_id}"}


def live(url: str, run_id: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = httpx.get(f"{url}/episodes", params={"run_id": run_id}, timeout=None).json()
    return listed


def awaited(policy: Policy) -> Callable[[list[Message], list[Message]], Awaitable[Message]]:
    async def answer(messages: list[Message], tools: list[Message]) -> Message:
        return policy(messages, tools)

    return answer


def call(name: str, arguments: str = "{}") -> Message:
    return {"tool_calls": [{"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}]}


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_who_knows_the_solution_wins_and_every_call_is_answered(env_id: str, wide_url: str, winner: Maker) -> None:
    row = row_of(env_id)
    with EcomEnv(wide_url) as env:
        record = run_episode(env, winner(row), row)
    assert record.result is not None
    assert record.result.is_correct
    assert record.reward == record.result.r_total > 0.8
    assert record.metadata is not None
    assert (record.metadata.env_id, record.metadata.seed, record.metadata.style) == (env_id, 11, "tool")
    assert record.failure is None
    asked = [call["id"] for each in record.messages for call in each.get("tool_calls", ())]
    answered = [each["tool_call_id"] for each in record.messages if each["role"] == "tool"]
    assert asked == answered != []
    assert all(each["content"] for each in record.messages if each["role"] != "assistant")
    assert live(wide_url, f"run {env_id}") == []


def test_the_asynchronous_loop_plays_the_same_episode(wide_url: str, winner: Maker) -> None:
    row = row_of("CART")

    async def play() -> Any:
        async with AsyncEcomEnv(wide_url) as env:
            return await run_episode_async(env, awaited(winner(row)), row)

    with EcomEnv(wide_url) as env:
        record = run_episode(env, winner(row), row)
    again = asyncio.run(play())
    assert (again.messages, again.tools, again.reward) == (record.messages, record.tools, record.reward)


def test_a_rollout_out_of_tokens_is_finished_and_has_a_score(live_url: str) -> None:
    with EcomEnv(live_url) as env:
        record = run_episode(env, lambda messages, _: call("cart_view") if len(messages) == 2 else None, row_of("CART"))
    assert record.result is not None
    assert record.result.termination is Termination.TURN_BUDGET
    assert record.reward == record.result.r_total < 0
    assert [each["role"] for each in record.messages] == ["system", "user", "assistant", "tool"]


def test_a_rollout_is_finished_after_as_many_messages_as_it_may_have(live_url: str) -> None:
    with EcomEnv(live_url) as env:
        record = run_episode(env, lambda *_: call("cart_view"), row_of("CART"), most_messages=2)
    assert record.result is not None
    assert record.result.reason == "the client finished the episode"
    assert sum(each["role"] == "assistant" for each in record.messages) == 2


@pytest.mark.parametrize(
    "message",
    [call("no_such_tool"), call("cart_add", "{"), call("cart_add", '{"product_id": 7}'), call("submit_answer", "[]")],
    ids=["unknown tool", "broken JSON", "wrong type", "no object"],
)
def test_mistakes_of_the_model_are_scored_not_raised(message: Message, live_url: str) -> None:
    with EcomEnv(live_url) as env:
        record = run_episode(env, lambda *_: message, row_of("CART"))
    assert record.result is not None
    assert (record.reward, record.result.termination) == (-1.0, Termination.FORMAT_FAILURE)
    assert record.failure is None


def test_what_the_policy_raises_is_raised_and_the_place_is_free(live_url: str) -> None:
    def broken(*_: Any) -> Message:
        raise RuntimeError("the model server died")

    with EcomEnv(live_url) as env, pytest.raises(RuntimeError, match="died"):
        run_episode(env, broken, {**row_of("CART"), "run_id": "broken"})
    assert live(live_url, "broken") == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"env_id": "KART"}, InvalidRequestError),
        ({"seed": "x"}, InvalidRequestError),
        ({"difficulty": object()}, InvalidRequestError),
        ({"env_id": "PD", "difficulty": 20}, UnservableError),
    ],
    ids=["environment", "type", "no JSON", "difficulty"],
)
def test_what_cannot_be_played_is_refused(change: dict[str, Any], error: type[Exception], live_url: str) -> None:
    with EcomEnv(live_url) as env, pytest.raises(error):
        run_episode(env, lambda *_: None, row_of("CART") | change)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_lost_episode_has_no_reward(is_async: bool, live_url: str) -> None:
    row = {**row_of("CART"), "run_id": f"lost {is_async}"}

    def policy(*_: Any) -> Message:
        httpx.delete(f"{live_url}/episodes", params={"run_id": row["run_id"]}, timeout=None).raise_for_status()
        return call("cart_view")

    async def play() -> Any:
        async with AsyncEcomEnv(live_url) as env:
            return await run_episode_async(env, awaited(policy), row)

    if is_async:
        record = asyncio.run(play())
    else:
        with EcomEnv(live_url) as env:
            record = run_episode(env, policy, row)
    assert isinstance(record.failure, EpisodeLostError)
    assert (record.reward, len(record.messages)) == (None, 3)


def test_a_server_that_does_not_answer_gives_no_reward() -> None:
    with EcomEnv("http://127.0.0.1:1", retry_for=0) as env:
        record = run_episode(env, lambda *_: None, row_of("CART"))
    assert isinstance(record.failure, ServerUnavailableError)
    assert (record.reward, record.result, record.metadata, record.messages) == (None, None, None, [])


def test_a_reset_whose_answer_is_lost_leaves_no_place_behind(live_app: FastAPI, live_url: str) -> None:
    class Deaf(httpx.ASGITransport):
        """Loses the answers to resets."""

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            answer = await super().handle_async_request(request)
            if request.url.path == "/reset":
                raise httpx.ReadError("lost", request=request)
            return answer

    async def play() -> Any:
        env = AsyncEcomEnv("http://app", transport=Deaf(live_app), retry_for=0)
        return await run_episode_async(env, awaited(lambda *_: call("cart_view")), row_of("CART") | {"run_id": "deaf"})

    assert isinstance(asyncio.run(play()).failure, ServerUnavailableError)
    assert live(live_url, "deaf") == []
