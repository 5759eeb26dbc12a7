"""The clients of a soak, in a process of their own: each plays one episode after the other through the real client.

Whatever happens to the server, every episode is played to its end, and its trace is fetched. The number of actions that
a client has sent is compared with that of the trace, and the members of a group with each other. Traces are written to
a file beside the reward that the client was told, as ``evaluation.bench.crowd.checking`` reads it.

Prints one JSON object, :class:`Seen`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import IO, Annotated, Any

import httpx
import typer

from ecom_rlve.client import AsyncEcomEnv, EcomEnvError, StepResult
from ecom_rlve.evaluation.bench.crowd.talk import talk

RUN = "soak"
GROUP = 8
"""Episodes of a group."""
_PATIENCE_S = 300.0
"""Seconds for which a client repeats a request that is not answered."""
_SAME = ("env_id", "difficulty", "seed", "split", "style")
"""What the members of a group have in common."""


@dataclass(slots=True)
class Seen:
    """What the clients have seen."""

    begun: int = 0
    ended: int = 0
    steps: int = 0
    steps_ms: list[float] = field(default_factory=list)
    """Time from a step to its answer, repeated requests and all."""
    most_live: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    """Why episodes did not come to their end."""
    miscounted: int = 0
    """Episodes whose trace holds another number of actions than were sent."""
    broken_groups: int = 0
    """Groups whose members are not one episode, or are numbered twice."""


class Soak:
    """All clients of one server."""

    def __init__(self, url: str, pause_s: float, seed: int, traces: IO[str]) -> None:
        self._url = url
        self._pause_s = pause_s
        self._seed = seed
        self._traces = traces
        self._numbers = count()
        self._live = 0
        self._groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        self._environments: dict[str, Mapping[str, Any]] = {}
        self.seen = Seen()

    async def run(self, episodes: int, seconds: float) -> None:
        """Keep so many episodes live for so long, then let each come to its end."""
        async with httpx.AsyncClient(base_url=self._url, trust_env=False, timeout=60) as http:
            self._environments = {each["env_id"]: each for each in (await http.get("/envs")).json()}
        ends = time.monotonic() + seconds
        await asyncio.gather(*(self._seat(ends) for _ in range(episodes)))
        for members in self._groups.values():
            same = {tuple(each[name] for name in _SAME) for each in members}
            numbers = {each["group_member"] for each in members}
            self.seen.broken_groups += len(same) != 1 or len(numbers) != len(members)

    async def _seat(self, ends: float) -> None:
        while time.monotonic() < ends:
            number = next(self._numbers)
            try:
                async with AsyncEcomEnv(self._url, timeout=60, retry_for=_PATIENCE_S) as env:
                    await self._play(env, number)
            except EcomEnvError as error:
                self.seen.failures[f"{type(error).__name__}: {error}"[:200]] += 1

    async def _play(self, env: AsyncEcomEnv, number: int) -> None:
        rng = Random(f"{self._seed} {number}")
        # All members of a group are begun at about the same moment, by different workers.
        group = f"{self._seed} {number // GROUP}"
        await self._pause(rng)
        opening = await env.reset(run_id=RUN, group_id=group, include=[])
        self.seen.begun += 1
        self._live += 1
        self.seen.most_live = max(self.seen.most_live, self._live)
        try:
            self._groups[group].append(opening.metadata.model_dump())
            steps, last = await self._played(env, opening, rng)
            await self._check(str(env.episode_id), steps, last)
            self.seen.ended += 1
        finally:
            self._live -= 1

    async def _played(self, env: AsyncEcomEnv, opening: StepResult, rng: Random) -> tuple[int, StepResult]:
        """Play to the end; return how many actions were sent, and the last answer."""
        policy = talk(self._environments[opening.metadata.env_id], opening.observation.user_message, rng)
        frame, steps = next(policy), 0
        while True:
            await self._pause(rng)
            begun = time.perf_counter()
            result = await (env.finish() if frame["type"] == "finish" else env.step(frame["data"]))
            self.seen.steps_ms.append((time.perf_counter() - begun) * 1000)
            steps += 1
            if result.done:
                self.seen.steps += steps
                return steps, result
            frame = policy.send(result.observation.model_dump(mode="json"))

    async def _check(self, episode_id: str, steps: int, last: StepResult) -> None:
        trace = await self._trace(episode_id)
        # A header, the opening, and a line for each action.
        self.seen.miscounted += trace.count("\n") - 2 != steps
        self._traces.write(json.dumps({"reward": last.reward, "trace": trace}) + "\n")

    async def _trace(self, episode_id: str) -> str:
        """Fetch a trace, as often as that takes."""
        deadline = time.monotonic() + _PATIENCE_S
        async with httpx.AsyncClient(base_url=self._url, trust_env=False, timeout=60) as http:
            while True:
                try:
                    answer = await http.get(f"/episodes/{episode_id}/trace")
                    if answer.status_code == 200 or time.monotonic() > deadline:
                        return answer.text
                except httpx.RequestError:
                    if time.monotonic() > deadline:
                        raise
                await asyncio.sleep(0.5)

    async def _pause(self, rng: Random) -> None:
        await asyncio.sleep(rng.expovariate(1 / self._pause_s))


def main(
    url: Annotated[str, typer.Option(help="The server.")],
    episodes: Annotated[int, typer.Option(min=1, help="Episodes at the same time.")],
    seconds: Annotated[float, typer.Option(min=1)],
    pause: Annotated[float, typer.Option(help="Mean pause before a step, in seconds.")],
    seed: Annotated[int, typer.Option(help="Of pauses and of what is played.")],
    traces: Annotated[Path, typer.Option(help="File for the traces.")],
) -> None:
    """Play, and print what was seen as JSON."""
    with traces.open("w") as file:
        soak = Soak(url, pause, seed, file)
        asyncio.run(soak.run(episodes, seconds))
    print(json.dumps(asdict(soak.seen)))


if __name__ == "__main__":
    typer.run(main)
