"""What a model-worded customer costs a server: requests per second to the model, and latency of other episodes.

    python -m ecom_rlve.evaluation.bench.voice --episodes 256 --concurrency 64 --latency 1 --seconds 10

The server uses a model endpoint that answers after a fixed time. Many sockets play episodes in which the customer
speaks at every step, so requests queue all the time. The endpoint could answer ``concurrency / latency`` requests per
second. One more socket takes tool steps, in which nobody speaks: before the load, and during it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Annotated

import httpx
import typer
from rich.console import Console

from ecom_rlve.evaluation.bench.connections import Socket
from ecom_rlve.evaluation.bench.load import Player
from ecom_rlve.evaluation.bench.model_app import NAME
from ecom_rlve.evaluation.local_server import server_process

SHARE_WANTED = 0.9
_ASK = {"assistant_message": "Which colour do you want?"}
_VIEW = {"tool_calls": [{"name": "cart_view", "args": {}}]}
# One episode lasts through all its tool steps.
_LONG = {"t_max": 1000}
_CATALOG = "synthetic:1000:0"
_DONE = b'"done":true'


async def _talk(url: str, seeds: count[int], stop: asyncio.Event) -> None:
    """Play episodes in which every step makes the customer speak."""
    socket = await Socket.open(url)
    player = Player(socket, "ws")
    while not stop.is_set():
        await player.reset(next(seeds))
        while not stop.is_set() and _DONE not in await player.step(player.request("", _ASK)):
            pass
    socket.close()


async def _view(url: str, seed: int, seconds: float) -> list[float]:
    """Take tool steps for a while; return what each took, in milliseconds, in order."""
    socket = await Socket.open(url)
    player = Player(socket, "ws")
    await player.reset(seed, axes=_LONG)
    request, took = player.request("", _VIEW), []
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        started = time.perf_counter()
        if _DONE in await player.step(request):
            await player.reset(seed, axes=_LONG)
        else:
            took.append((time.perf_counter() - started) * 1000)
        await asyncio.sleep(0.005)
    socket.close()
    return sorted(took)


async def measure(
    url: str, model_url: str, episodes: int, seconds: float, warm_s: float
) -> tuple[float, list[float], list[float]]:
    """Return requests per second under load, and the milliseconds of tool steps before the load and during it."""
    async with httpx.AsyncClient(base_url=model_url, trust_env=False) as model:
        answered = _counting(model)
        quiet = await _view(url, 2**40, seconds / 2)
        seeds, stop = count(), asyncio.Event()
        talks = [asyncio.create_task(_talk(url, seeds, stop)) for _ in range(episodes)]
        await asyncio.sleep(warm_s)
        first, started = await answered(), time.perf_counter()
        busy = await _view(url, 2**40, seconds)
        rate = (await answered() - first) / (time.perf_counter() - started)
        stop.set()
        await asyncio.gather(*talks)
    return rate, quiet, busy


def _counting(model: httpx.AsyncClient) -> Callable[[], Awaitable[int]]:
    async def answered() -> int:
        found: int = (await model.get("/requests")).json()["answered"]
        return found

    return answered


def _quantiles(took: list[float]) -> str:
    return f"{took[len(took) // 2]:.2f} | {took[int(0.99 * (len(took) - 1))]:.2f}"


def main(
    episodes: Annotated[int, typer.Option(min=1, help="Episodes at the same time.")] = 256,
    concurrency: Annotated[int, typer.Option(min=1, help="Requests to the model at the same time.")] = 64,
    latency: Annotated[float, typer.Option(min=0.01, help="Seconds that the model takes.")] = 1.0,
    seconds: Annotated[float, typer.Option(min=1, help="Seconds to measure for.")] = 10.0,
    strict: Annotated[bool, typer.Option(help="Exit 1 if the share is missed.")] = False,
) -> None:
    """Measure and print."""
    console = Console(stderr=True)
    with server_process("ecom_rlve.evaluation.bench.model_app", f"--latency={latency}") as (model_url, _):
        variables = {
            "ECOM_RLVE_SIMULATOR": "model",
            "ECOM_RLVE_MODEL_URL": f"{model_url}/v1",
            "ECOM_RLVE_MODEL_NAME": NAME,
            "ECOM_RLVE_MODEL_CONCURRENCY": str(concurrency),
            "ECOM_RLVE_MODEL_TIMEOUT_S": str(10 * latency + 10),
            "ECOM_RLVE_OPENING_BUDGET_S": "600",
        }
        with server_process("ecom_rlve.cli", "serve", "--catalog", _CATALOG, variables=variables) as (url, _):
            console.print(f"{episodes} episodes, {concurrency} requests at once, {latency} s each …")
            rate, quiet, busy = asyncio.run(measure(url, model_url, episodes, seconds, 3 * latency + 2))
    possible = concurrency / latency
    print(f"requests/s: {rate:.1f} of {possible:.1f} possible: {rate / possible:.3f} (wanted: {SHARE_WANTED})\n")
    print("| tool steps of another episode, ms | p50 | p99 |\n|---|---|---|")
    print(f"| before the load | {_quantiles(quiet)} |\n| under it | {_quantiles(busy)} |")
    raise typer.Exit(1 if strict and rate < SHARE_WANTED * possible else 0)


if __name__ == "__main__":
    typer.run(main)
