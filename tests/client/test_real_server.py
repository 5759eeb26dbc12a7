"""The clients against the real server: in process, over a socket, from threads, after a fork."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import pytest

from ecom_rlve import AsyncEcomEnv, EcomEnv
from ecom_rlve.client import (
    EpisodeDoneError,
    EpisodeLostError,
    InvalidRequestError,
    StepResult,
    UnauthorizedError,
)
from ecom_rlve.models import Action, ErrorCode, Termination, ToolCall

if TYPE_CHECKING:
    from fastapi import FastAPI

pytestmark = pytest.mark.needs_server

SEARCH = Action(tool_calls=[ToolCall(name="catalog_search", args={"query": "mug"})])


def test_an_episode_over_a_socket(live_url: str) -> None:
    with EcomEnv(live_url) as env:
        first = env.reset(env_id="CART", difficulty=0, seed=3, prompt="a trainer's column")
        assert (first.reward, first.done) == (None, False)
        assert (first.metadata.env_id, first.metadata.difficulty, first.metadata.seed) == ("CART", 0, 3)
        assert first.observation.user_message in first.text
        assert "catalog_search(" in first.text
        second = env.step(SEARCH)
        assert second.reward == 0.0
        assert second.observation.tool_results[0].result
        state = env.state()
        assert (state.episode_id, state.step_count) == (env.episode_id, 1)
        last = env.step({"answer": {"done": True}})
        assert last.done
        assert last.observation.result is not None
        assert last.reward == last.observation.result.r_total
        with pytest.raises(EpisodeDoneError):
            env.step(SEARCH)


def test_raw_text_that_is_no_action_is_the_agents_fault_not_the_clients(live_url: str) -> None:
    with EcomEnv(live_url, env="cart") as env:
        env.reset(seed=1)
        last = env.step("I would rather talk about the weather.")
        assert (last.done, last.reward) == (True, -1.0)
        assert "format_failure" in last.text


def test_in_process_as_over_the_socket(live_app: FastAPI, live_url: str) -> None:
    async def play() -> list[str]:
        async with AsyncEcomEnv("http://app", transport=httpx.ASGITransport(live_app)) as env:
            first = await env.reset(env_id="CART", difficulty=0, seed=5, episode_id="same")
            return [first.text, (await env.step(SEARCH)).text, str((await env.state()).messages)]

    with EcomEnv(live_url) as env:
        first = env.reset(env_id="CART", difficulty=0, seed=5)
        texts = [first.text, env.step(SEARCH).text, str(env.state().messages)]
    assert asyncio.run(play()) == texts


def test_errors_of_the_server_are_typed(live_url: str) -> None:
    with EcomEnv(live_url) as env, EcomEnv(live_url) as other:
        with pytest.raises(InvalidRequestError) as caught:
            env.reset(env_id="KART")
        assert caught.value.code is ErrorCode.UNKNOWN_ENV
        with pytest.raises(InvalidRequestError) as caught:
            env.reset(seed=-1)
        assert caught.value.code is ErrorCode.VALIDATION_ERROR
        assert caught.value.errors
        env.reset(env_id="CART")
        with pytest.raises(InvalidRequestError):
            env.step({"end_turn": False})
        assert env.step(SEARCH).observation.turn == 1
        httpx.delete(f"{live_url}/episodes/{env.episode_id}", timeout=None)
        with pytest.raises(EpisodeLostError) as lost:
            env.step(SEARCH)
        assert lost.value.code is ErrorCode.UNKNOWN_EPISODE
        other.close()


def test_a_finished_episode_has_a_result(live_url: str) -> None:
    async def play() -> StepResult:
        async with AsyncEcomEnv(live_url, env="cart") as env:
            await env.reset(seed=1, difficulty=1)
            await env.step(SEARCH)
            return await env.finish()

    with EcomEnv(live_url, env="cart") as env:
        env.reset(seed=1, difficulty=1)
        env.step(SEARCH)
        last = env.finish()
        for late in (env.finish, lambda: env.step(SEARCH)):
            with pytest.raises(EpisodeDoneError):
                late()
        assert env.state().done
        assert "turn_budget; the client finished the episode" in last.text
    for each in (last, asyncio.run(play())):
        assert each.done
        assert each.observation.result is not None
        assert each.reward == each.observation.result.r_total
        assert each.observation.result.termination is Termination.TURN_BUDGET


def test_nulls_and_whole_floats_of_a_data_set_are_sent_as_they_are(live_url: str) -> None:
    row = {"env_id": "CART", "seed": 3.0, "difficulty": None, "run_id": None, "axes": None}
    with EcomEnv(live_url) as env:
        first = env.reset(**row, split=None, style=None, format=None, include=None, group_id=None, collection=None)
        assert (first.metadata.seed, first.metadata.split, first.metadata.style) == (3, "train", "turn")


def test_an_action_of_ours_leaves_the_turns_end_to_the_server(live_url: str) -> None:
    with EcomEnv(live_url) as env:
        env.reset(env_id="CART", seed=3, style="tool")
        view = [ToolCall(name="cart_view", id="c1")]
        seen = env.step(Action(tool_calls=view)).observation
        assert (seen.turn, seen.tool_results[0].tool_call_id) == (0, "c1")
        assert env.step(Action(tool_calls=view, end_turn=True)).observation.turn == 1


def test_close_gives_the_place_back(live_url: str) -> None:
    env = EcomEnv(live_url)
    episode_id = env.reset(env_id="CART").observation.episode_id
    assert httpx.get(f"{live_url}/state", params={"episode_id": episode_id}, timeout=None).is_success
    env.close()
    assert httpx.get(f"{live_url}/state", params={"episode_id": episode_id}, timeout=None).status_code == 404


def test_a_lost_answer_of_the_real_server_is_not_applied_twice(live_url: str) -> None:
    class LosesEveryFirstAnswer(httpx.HTTPTransport):
        lost: set[bytes]

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            response = super().handle_request(request)
            if request.content not in self.lost:
                self.lost.add(request.content)
                response.close()
                raise httpx.ReadError("lost", request=request)
            return response

    transport = LosesEveryFirstAnswer()
    transport.lost = set()
    with EcomEnv(live_url, transport=transport) as env:
        env.reset(env_id="CART", seed=2)
        assert env.step(SEARCH).observation.turn == 1
        assert env.state().step_count == 1


def test_many_threads_each_with_an_env(live_url: str) -> None:
    def play(seed: int) -> int:
        with EcomEnv(live_url) as env:
            env.reset(env_id="CART", difficulty=0, seed=seed)
            return env.step(SEARCH).observation.turn + env.step(SEARCH).observation.turn

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(play, range(24))) == [3] * 24


def test_a_token_is_asked_for_and_sent(live_app: FastAPI) -> None:
    from pydantic import SecretStr

    from ecom_rlve.server.app import create_app

    service = live_app.state.service
    closed = create_app(service.settings.model_copy(update={"token": SecretStr("open sesame")}), shop=service._shop)

    async def play(token: str | None) -> str:
        async with AsyncEcomEnv("http://app", token=token, transport=httpx.ASGITransport(closed)) as env:
            return (await env.reset(env_id="CART")).text

    assert asyncio.run(play("open sesame"))
    with pytest.raises(UnauthorizedError):
        asyncio.run(play(None))


FORK = """
import os, sys
from ecom_rlve import EcomEnv

search = {"tool_calls": [{"name": "catalog_search", "args": {"query": "mug"}}]}
env = EcomEnv(sys.argv[1])
env.reset(env_id="CART", difficulty=0, seed=1)
child = os.fork()
if not child:
    turn = env.step(search).observation.turn
    env.close()
    mine = env.reset(env_id="CART", difficulty=0, seed=2).observation.turn
    env.close()
    os._exit(0 if (turn, mine) == (1, 0) else 1)
assert os.waitpid(child, 0)[1] == 0
assert env.step(search).observation.turn == 2
env.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on Windows")
def test_a_fork_makes_its_own_connections_and_spares_its_parents_episode(live_url: str) -> None:
    done = subprocess.run([sys.executable, "-P", "-c", FORK, live_url], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


LOOPS = """
import asyncio, sys
from ecom_rlve import AsyncEcomEnv

env = AsyncEcomEnv(sys.argv[1])
first = asyncio.run(env.reset(env_id="CART", difficulty=0, seed=1))
assert asyncio.run(env.state()).step_count == 0
asyncio.run(env.close())
"""


def test_an_async_env_survives_its_event_loop(live_url: str) -> None:
    done = subprocess.run([sys.executable, "-P", "-c", LOOPS, live_url], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
