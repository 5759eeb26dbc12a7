"""A worker that puts load on one server for a while, from a process of its own.

    python -m ecom_rlve.evaluation.bench.load --url http://127.0.0.1:8000 --pid 4711 --transport ws \
        --work view --clients 64 --seconds 2

Every client asks, waits for the answer, and asks again. Kinds of work: ``view`` is steps with one ``cart_view`` on a
cart of one line, in an episode with so many turns that no reset is needed between them. ``episode`` is whole episodes
(reset, search, add, answer), and counts episodes. ``echo`` is the bare route or socket, with a given body. Prints one
JSON object, :class:`Load`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ecom_rlve.evaluation.bench.connections import BenchError, Connection, Http, Socket

Transport = Literal["http", "ws"]
Work = Literal["view", "episode", "echo"]
_LONG = {"t_max": 1000}
_DONE = b'"done":true'


@dataclass(frozen=True, slots=True)
class Load:
    """What a server answered within some time."""

    answers: int
    """Number of steps, or of episodes."""
    seconds: float
    p50_ms: float
    p99_ms: float
    """Latency of one answer, or of one episode."""
    server_cpu_us: float | None
    """CPU time of all threads of the server, for each answer; None if the system has no /proc."""
    server_threads: int | None
    """Number of threads while every client was connected; None if the system has no /proc."""
    sample: str
    """The last answer."""

    @property
    def rate(self) -> float:
        """Answers per second."""
        return self.answers / self.seconds


class Player:
    """One client of our server."""

    def __init__(self, connection: Connection, transport: Transport) -> None:
        self._connection = connection
        self._is_http = transport == "http"

    async def reset(self, seed: int, **more: Any) -> dict[str, Any]:
        """Begin an episode and return its first observation."""
        data = {"env_id": "CART", "difficulty": 0, "seed": seed, **more}
        body = data if self._is_http else {"type": "reset", "data": data}
        return _observation(await self._connection.ask("/reset", json.dumps(body).encode()))

    def request(self, episode_id: str, action: dict[str, Any]) -> bytes:
        """Return the body of a step."""
        body = {"episode_id": episode_id, "action": action} if self._is_http else {"type": "step", "data": action}
        return json.dumps(body).encode()

    async def step(self, request: bytes) -> bytes:
        """Take a step."""
        return await self._connection.ask("/step", request)

    async def fill(self, seed: int, **more: Any) -> str:
        """Begin an episode, put a product into its cart and return the episode's id."""
        opening = await self.reset(seed, **more)
        episode_id: str = opening["episode_id"]
        search = _call("catalog_search", query=opening["user_message"])
        found = _observation(await self.step(self.request(episode_id, search)))["tool_results"][0]["result"]
        product_id = next(card["product_id"] for card in found["results"] if card["in_stock"])
        await self.step(self.request(episode_id, _call("cart_add", product_id=product_id)))
        return episode_id


def _call(name: str, **args: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "args": args}]}


def _observation(answer: bytes) -> dict[str, Any]:
    body = json.loads(answer)
    observation: dict[str, Any] = body.get("data", body)["observation"]
    return observation


Ask = Callable[[], Awaitable[bytes]]
"""Do one unit of work and return its last answer."""


async def _viewing(player: Player, seeds: count[int]) -> Ask:
    episode_id = await player.fill(next(seeds), axes=_LONG)
    request = player.request(episode_id, _call("cart_view"))

    async def ask() -> bytes:
        nonlocal request
        answer = await player.step(request)
        if _DONE in answer:
            request = player.request(await player.fill(next(seeds), axes=_LONG), _call("cart_view"))
        return answer

    return ask


async def _playing(player: Player, seeds: count[int]) -> Ask:
    async def ask() -> bytes:
        episode_id = await player.fill(next(seeds))
        answer = await player.step(player.request(episode_id, {"answer": {"done": True}}))
        if _DONE not in answer:
            raise BenchError(f"the episode did not end: {answer[:200]!r}")
        return answer

    await ask()
    return ask


async def _echoing(connection: Connection, body: bytes) -> Ask:
    return lambda: connection.ask("/echo", body)


async def _until(deadline: float, ask: Ask, times_ms: list[float]) -> bytes:
    """Ask until the deadline and return the last answer; an answer after the deadline does not count."""
    start = time.perf_counter()
    while True:
        answer = await ask()
        end = time.perf_counter()
        if end > deadline:
            return answer
        times_ms.append((end - start) * 1000)
        start = end


async def load(
    url: str, pid: int, transport: Transport, work: Work, clients: int, seconds: float, body: str = ""
) -> Load:
    """Measure one server; ``pid`` is its process, ``body`` what ``echo`` sends."""
    opened: list[Connection] = [await (Http if transport == "http" else Socket).open(url) for _ in range(clients)]
    seeds = count()
    if work == "echo":
        asks = [await _echoing(connection, body.encode()) for connection in opened]
    else:
        begin = _viewing if work == "view" else _playing
        asks = [await begin(Player(connection, transport), seeds) for connection in opened]
    times_ms: list[float] = []
    cpu, start = cpu_seconds(pid), time.perf_counter()
    answers = await asyncio.gather(*(_until(start + seconds, ask, times_ms) for ask in asks))
    taken, used = time.perf_counter() - start, cpu_seconds(pid)
    threads = thread_count(pid)
    for connection in opened:
        connection.close()
    cpu_us = None if cpu is None or used is None else (used - cpu) * 1e6 / (len(times_ms) + clients)
    return Load(
        answers=len(times_ms),
        seconds=min(taken, seconds),
        p50_ms=quantile(times_ms, 0.5),
        p99_ms=quantile(times_ms, 0.99),
        server_cpu_us=cpu_us,
        server_threads=threads,
        sample=answers[-1].decode(),
    )


def quantile(values: list[float], share: float) -> float:
    """Return a quantile of times; raises :class:`BenchError` where nothing was measured."""
    if not values:
        raise BenchError("nothing was answered in time; measure for longer")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def cpu_seconds(pid: int) -> float | None:
    """Return the CPU time that a process has used so far; None if the system has no /proc."""
    path = Path(f"/proc/{pid}/stat")
    if not path.exists():
        return None
    fields = path.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def thread_count(pid: int) -> int | None:
    """Return the number of a process's threads; None if the system has no /proc."""
    path = Path(f"/proc/{pid}/status")
    if not path.exists():
        return None
    return next(int(line.split()[1]) for line in path.read_text().splitlines() if line.startswith("Threads:"))


def _run(main: Awaitable[Load]) -> Load:
    """Run on uvloop if it is installed: a faster client leaves more of the machine to the server."""

    async def whole() -> Load:
        return await main

    if sys.platform == "win32":
        return asyncio.run(whole())
    import uvloop

    return uvloop.run(whole())


def main(
    url: Annotated[str, typer.Option(help="The server.")],
    pid: Annotated[int, typer.Option(help="Process id of the server.")],
    transport: Annotated[Transport, typer.Option()],
    work: Annotated[Work, typer.Option()],
    clients: Annotated[int, typer.Option(min=1)],
    seconds: Annotated[float, typer.Option(min=0.01)],
    body: Annotated[str, typer.Option(help="What `echo` sends.")] = "",
) -> None:
    """Measure and print the result as JSON."""
    print(json.dumps(asdict(_run(load(url, pid, transport, work, clients, seconds, body)))))


if __name__ == "__main__":
    typer.run(main)
