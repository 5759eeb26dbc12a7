"""Two servers that share a store in Redis, behind the deployed balancer: no client notices which one answers."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from secrets import token_hex
from typing import Any

import httpx
import pytest

from ecom_rlve.client import EcomEnv
from ecom_rlve.envs.episode.trace import Trace, replay
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.bench.connections import Http

VIEW = {"tool_calls": [{"name": "cart_view", "args": {}}]}
DONE = {"answer": {"done": True}}
CLIENTS = 8
STEPS = 30
MEASURED_S = 4.0

pytestmark = pytest.mark.slow


def asked(method: str, url: str, body: Any = None) -> Any:
    """Send one request; return what its answer holds."""
    answer = httpx.request(method, url, json=body, timeout=None)
    assert answer.is_success, answer.text
    return answer.json()


def test_an_episode_that_began_on_one_is_played_on_the_other(servers: list[Any], shop: Shop) -> None:
    one, other = (each.url for each in servers)
    asked("POST", f"{one}/reset", {"env_id": "CART", "episode_id": "E", "run_id": "r", "axes": {"t_max": 20}})
    for number in range(6):
        url = (other, one)[number % 2]
        turn = asked("POST", f"{url}/episodes/E/step", {"action": {**VIEW, "assistant_message": f"{number}"}})
        assert turn["observation"]["turn"] == number + 1
    assert asked("GET", f"{one}/episodes/E/state") == asked("GET", f"{other}/episodes/E/state")
    repeated = {"action": DONE, "request_id": "the last"}
    ended = [asked("POST", f"{url}/episodes/E/step", repeated) for url in (one, other)]
    assert ended[0] == ended[1]
    traces = [httpx.get(f"{url}/episodes/E/trace").text for url in (one, other)]
    assert traces[0] == traces[1]
    replay(Trace.load(traces[0]), shop)


def test_a_rolling_restart_is_invisible(servers: list[Any], balanced: Callable[..., str], shop: Shop) -> None:
    """Clients play on while one server, then the other is stopped and started again."""
    url = balanced(servers)
    restarted = threading.Event()

    def play(client: int) -> list[str]:
        played = []
        with EcomEnv(url, retry_for=120) as env:
            while not restarted.is_set() or not played:
                env.reset(env_id="CART", difficulty=3, axes={"t_max": STEPS + 2}, run_id=f"r{client}")
                for number in range(STEPS):
                    result = env.step({**VIEW, "assistant_message": str(number)})
                    assert (result.observation.turn, result.done) == (number + 1, False)
                assert env.step(DONE).done
                played.append(str(env.episode_id))
        return played

    with ThreadPoolExecutor(CLIENTS) as pool:
        clients = [pool.submit(play, number) for number in range(CLIENTS)]
        for each in servers:
            each.stop()
            each.start()
        restarted.set()
        played = [episode_id for client in clients for episode_id in client.result()]
    assert len(played) >= CLIENTS
    for episode_id in played:
        trace = Trace.load(httpx.get(f"{url}/episodes/{episode_id}/trace").text)
        # The opening has none.
        assert len(trace.rewards) == 1 + STEPS + 1
        replay(trace, shop)


def test_two_servers_take_as_many_steps_for_their_processor_time_as_one(
    servers: list[Any], balanced: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Steps per second of the servers' processor time: two at least .8 times as many as one."""
    one, two = balanced(servers[:1]), balanced(servers)
    asyncio.run(measured(two, servers))
    before = asyncio.run(measured(one, servers[:1]))
    both = asyncio.run(measured(two, servers))
    after = asyncio.run(measured(one, servers[:1]))
    alone = [(early + late) / 2 for early, late in zip(before, after, strict=True)]
    with capsys.disabled():
        print(
            f"\nsteps per CPU second: one {alone[0]:.0f}, two {both[0]:.0f}, ratio {both[0] / alone[0]:.2f}; "
            f"by the clock: one {alone[1]:.0f}/s, two {both[1]:.0f}/s, ratio {both[1] / alone[1]:.2f}"
        )
    assert both[0] >= 0.8 * alone[0]


async def measured(url: str, servers: list[Any]) -> tuple[float, float]:
    """Return steps per second of the servers' processor time, and by the clock."""
    connections = [await Http.open(url) for _ in range(64)]
    prefix = token_hex(4)
    ids = [await begun(each, f"{prefix}-{number}") for number, each in enumerate(connections)]
    loop = asyncio.get_running_loop()
    before, started = sum(each.cpu_seconds() for each in servers), loop.time()

    async def play(connection: Any, episode_id: str) -> int:
        body = json.dumps({"episode_id": episode_id, "action": VIEW}).encode()
        steps = 0
        while loop.time() < started + MEASURED_S:
            await connection.ask(f"/step?episode_id={episode_id}", body)
            steps += 1
        return steps

    steps = sum(await asyncio.gather(*map(play, connections, ids)))
    spent, seconds = sum(each.cpu_seconds() for each in servers) - before, loop.time() - started
    for connection in connections:
        connection.close()
    return steps / spent, steps / seconds


async def begun(connection: Any, episode_id: str) -> str:
    """Begin an episode of a thousand turns; return its id."""
    asked_for = {"env_id": "CART", "difficulty": 0, "episode_id": episode_id, "axes": {"t_max": 1000}}
    await connection.ask(f"/reset?episode_id={episode_id}", json.dumps(asked_for).encode())
    return episode_id
