"""A worker that plays the clients of one server, from a process of its own, and drops the sockets of some of them.

Each client plays one episode after the other on its socket, pausing before each frame as a model that thinks. Now and
then a random client's socket is dropped, without a word, whatever it is doing; another client takes its place. At the
end of the time all are dropped so. The trace of each episode that ended is fetched, and written to a file beside the
reward that the client was told.

With ``--echo`` the server is the bare one, and the clients send it their frames at the same pace.

Prints one JSON object, :class:`Played`.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import IO, Annotated, Any

import typer

from ecom_rlve.evaluation.bench.connections import BenchError, Http, Socket
from ecom_rlve.evaluation.bench.crowd.talk import talk

RUN = "crowd"
"""The run whose episodes these are."""


@dataclass(slots=True)
class Played:
    """What the clients have seen."""

    steps_ms: list[float] = field(default_factory=list)
    """Time from a frame to its answer, of steps and of echoes."""
    resets_ms: list[float] = field(default_factory=list)
    ended: int = 0
    """Episodes that ended, each with its trace."""
    dropped: int = 0
    """Sockets that were dropped before the end of the time."""
    sample: str = ""
    """An answer to a step."""


@dataclass(slots=True)
class Client:
    """One client; who drops its socket says so first."""

    socket: Socket
    is_dropped: bool = False

    def drop(self) -> None:
        """Let go of the socket without closing it."""
        self.is_dropped = True
        self.socket.drop()


class Crowd:
    """All clients of one server."""

    def __init__(self, url: str, pause_s: float, rng: Random, traces: IO[str] | None) -> None:
        """``pause_s`` is the mean pause before a frame; ``traces`` is None where the server is the bare one."""
        self._url = url
        self._pause_s = pause_s
        self._rng = rng
        self._traces = traces
        self._seeds = count()
        self._environments: list[dict[str, Any]] = []
        self._clients: list[Client] = []
        self.played = Played()

    async def run(self, clients: int, drops: int, seconds: float, echo: str) -> None:
        """Let so many clients play for so long, and drop so many sockets meanwhile."""
        if self._traces is not None:
            listed = json.loads(await self._fetched("/envs"))
            self._environments = [each for each in listed if each["max_difficulty"] >= 0]
        self._clients = [Client(await Socket.open(self._url)) for _ in range(clients)]
        ends = asyncio.get_running_loop().time() + seconds
        moments = sorted(ends - self._rng.random() * seconds for _ in range(drops))
        tasks = [asyncio.create_task(self._seat(number, echo.encode())) for number in range(clients)]
        try:
            async with asyncio.timeout_at(ends):
                await asyncio.gather(*tasks, self._drop(moments))
        except TimeoutError:
            pass
        for client in self._clients:
            client.drop()

    async def _drop(self, moments: list[float]) -> None:
        for moment in moments:
            await asyncio.sleep(moment - asyncio.get_running_loop().time())
            self._rng.choice(self._clients).drop()
            self.played.dropped += 1
        await asyncio.Event().wait()

    async def _seat(self, number: int, echo: bytes) -> None:
        """Play as one client after the other, as each is dropped."""
        while True:
            client = self._clients[number]
            try:
                await (self._echo(client, echo) if echo else self._play(client))
            except BenchError:
                if not client.is_dropped:
                    raise
            if client.is_dropped:
                self._clients[number] = Client(await Socket.open(self._url))

    async def _echo(self, client: Client, body: bytes) -> None:
        await self._asked(client, body, self.played.steps_ms)

    async def _play(self, client: Client) -> None:
        """Play one episode; write down its trace."""
        seed = next(self._seeds)
        env = self._environments[seed % len(self._environments)]
        data = {"env_id": env["env_id"], "difficulty": 0, "seed": seed, "run_id": RUN, "include": []}
        opening = await self._asked(client, _text({"type": "reset", "data": data}), self.played.resets_ms)
        seen = json.loads(opening)["data"]["observation"]
        policy = talk(env, seen["user_message"], self._rng)
        frame = next(policy)
        while True:
            answer = await self._asked(client, _text(frame), self.played.steps_ms)
            seen = json.loads(answer)["data"]["observation"]
            if seen["done"]:
                break
            frame = policy.send(seen)
        self.played.sample = answer.decode()
        trace = (await self._fetched(f"/episodes/{seen['episode_id']}/trace")).decode()
        assert self._traces is not None
        self._traces.write(json.dumps({"reward": seen["reward"], "trace": trace}) + "\n")
        self.played.ended += 1

    async def _fetched(self, path: str) -> bytes:
        """GET a path on a connection of its own: a server closes one that is idle for some seconds."""
        http = await Http.open(self._url)
        try:
            return await http.fetch(path)
        finally:
            http.close()

    async def _asked(self, client: Client, body: bytes, times_ms: list[float]) -> bytes:
        await asyncio.sleep(self._rng.expovariate(1 / self._pause_s))
        start = time.perf_counter()
        answer = await client.socket.ask("", body)
        times_ms.append((time.perf_counter() - start) * 1000)
        return answer


def _text(frame: dict[str, Any]) -> bytes:
    return json.dumps(frame).encode()


def main(
    url: Annotated[str, typer.Option(help="The server.")],
    clients: Annotated[int, typer.Option(min=1)],
    seconds: Annotated[float, typer.Option(min=0.1)],
    pause: Annotated[float, typer.Option(help="Mean pause before a frame, in seconds.")],
    seed: Annotated[int, typer.Option(help="Of pauses, drops and what is played.")],
    drops: Annotated[int, typer.Option(help="Sockets to drop.")] = 0,
    traces: Annotated[Path | None, typer.Option(help="File for the traces.")] = None,
    echo: Annotated[str, typer.Option(help="What to send to a bare server.")] = "",
) -> None:
    """Play, and print what was seen as JSON."""
    with (traces or Path("/dev/null")).open("w") as file:
        crowd = Crowd(url, pause, Random(seed), file if traces else None)
        asyncio.run(crowd.run(clients, drops, seconds, echo))
    print(json.dumps(asdict(crowd.played)))


if __name__ == "__main__":
    typer.run(main)
