"""Chat models that visitors watch: played by the code of ``ecom-rlve eval --agent openai:MODEL``, through the service.

The key is held for as long as the episode lasts, in no file, log, trace or answer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import httpx

from ecom_rlve.client import EcomEnvError, InvalidRequestError, StepResult
from ecom_rlve.client.protocol import encode
from ecom_rlve.envs.errors import ActionError
from ecom_rlve.evaluation.judging.errors import JudgingError
from ecom_rlve.evaluation.judging.plan import Calls, Plan, Task
from ecom_rlve.evaluation.judging.players.chat import ChatPlayers
from ecom_rlve.evaluation.judging.players.endpoint import CONNECT_S, Budget, Endpoint
from ecom_rlve.evaluation.judging.players.player import AgentUnavailableError
from ecom_rlve.evaluation.judging.playing import play, reset_of
from ecom_rlve.evaluation.judging.records import Fault, Usage
from ecom_rlve.models import Format, StepMetadata
from ecom_rlve.server.episodes.record import Record
from ecom_rlve.server.errors import PayloadTooLargeError
from ecom_rlve.server.web.games import RUN, Games, drawn
from ecom_rlve.server.web.played import Played
from ecom_rlve.server.web.watch.episodes import Film

PATIENCE_S = 120.0
"""Seconds that a model has for one action."""
HOW: Mapping[str, tuple[Calls, Format]] = MappingProxyType(
    {
        "native tool calls": ("native", "strict"),
        "text, read strictly": ("text", "strict"),
        "text, read leniently": ("text", "lenient"),
    }
)
"""The ways in which a model may act, by the words in which they are offered."""
_RETRY_FOR_S = 15.0
"""Seconds for which a model's server that does not answer is asked again: somebody waits."""
_AT_ONCE = 4
"""Most models that play at the same time: each keeps a connection open, and may cost somebody money."""


class ConnectionLostError(Exception):
    """The model cannot play, or not go on; the message is for the visitor, and holds no key."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A model, and how it acts."""

    url: str
    """Address of its API, with ``/v1``."""
    model: str
    key: str = field(repr=False)
    """Empty where none is needed."""
    calls: Calls
    format: Format

    def clean(self, text: str) -> str:
        """Return what a server said without the key, which some repeat."""
        return text.replace(self.key, "…") if self.key else text


@dataclass(frozen=True, slots=True)
class Frame:
    """What there is to see after a step."""

    film: Film
    told: str


class Connected:
    """The models that play on the page."""

    def __init__(self, games: Games) -> None:
        self._games = games
        self._playing = 0

    async def watch(
        self, connection: Connection, env_id: str, difficulty: int, seed: int | None
    ) -> AsyncGenerator[Frame]:
        """Yield the episode after each step, the opening and the end included.

        Raises:
            ConnectionLostError: the model's server does not answer, refuses, or too many models play.
            ServerError, EnvsError: no episode can be started.
        """
        if self._playing >= _AT_ONCE:
            raise ConnectionLostError(f"{_AT_ONCE} models play on this page already; try again in a few minutes")
        self._playing += 1
        try:
            plan = _plan(connection, env_id, difficulty)
            task = Task(env_id, difficulty, drawn() if seed is None else seed, 0)
            record = await self._games.begin(reset_of(plan, task, RUN))
            try:
                async for frame in self._frames(connection, plan, record):
                    yield frame
            finally:
                await self._games.drop(record.episode_id)
        finally:
            self._playing -= 1

    async def _frames(self, connection: Connection, plan: Plan, record: Record) -> AsyncGenerator[Frame]:
        seat = _Seat(self._games, record)
        usage = Usage()
        playing = asyncio.create_task(_played(connection, plan, seat, usage))
        try:
            while not playing.done():
                yield Frame(Film(Played.of_episode(record.episode), None, is_whole=False), _waiting(connection, usage))
                moved = asyncio.create_task(seat.moved.wait())
                await asyncio.wait({playing, moved}, return_when=asyncio.FIRST_COMPLETED)
                moved.cancel()
                seat.moved.clear()
            fault = playing.result()
        finally:
            playing.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await playing
        film = Film(Played.of_episode(record.episode), await self._games.reveal(record))
        yield Frame(film, _ended(connection, usage, fault))


class _Seat:
    """An episode of the page in the place of a client's: what is sent here is read as if it came over the wire."""

    def __init__(self, games: Games, record: Record) -> None:
        self.record = record
        self.moved = asyncio.Event()
        self._games = games
        self._most_bytes = games.service.settings.max_body_bytes

    @property
    def result(self) -> StepResult:
        """What a client would have been told last."""
        seen = self.record.episode.log.latest
        return StepResult(seen, seen.reward, seen.done, StepMetadata.model_validate_json(self.record.metadata))

    async def step(self, action: Mapping[str, Any] | str, /) -> StepResult:
        """Take a step; raises ``InvalidRequestError`` for what no server takes."""
        fields = {"text": action} if isinstance(action, str) else dict(action)
        body = encode(fields)
        if len(body) > self._most_bytes:
            raise InvalidRequestError(str(PayloadTooLargeError(self._most_bytes)))
        try:
            await self._games.step(self.record.episode_id, json.loads(body))
        except ActionError as error:
            raise InvalidRequestError(str(error)) from error
        self.moved.set()
        return self.result

    async def finish(self) -> StepResult:
        """End the episode as with its budget spent."""
        await self._games.service.finish(self.record)
        self.moved.set()
        return self.result


def _plan(connection: Connection, env_id: str, difficulty: int) -> Plan:
    return Plan(
        agent=f"openai:{connection.model}",
        calls=connection.calls,
        envs=(env_id,),
        difficulties=(difficulty,),
        episodes=1,
        trials=1,
        split="train",
        style="tool" if connection.calls == "native" else "turn",
        format=connection.format,
    )


async def _played(connection: Connection, plan: Plan, seat: _Seat, usage: Usage) -> Fault | None:
    """Play the episode and return the model's fault, if there was one; ``usage`` grows meanwhile."""
    # Neither proxies nor keys of the server's own environment are used for a visitor.
    timeout = httpx.Timeout(None, connect=CONNECT_S)
    async with httpx.AsyncClient(timeout=timeout, trust_env=False, follow_redirects=False) as http:
        budget = Budget(usage)
        endpoint = Endpoint(
            http, connection.url, connection.model, budget, key=connection.key or None, retry_for_s=_RETRY_FOR_S
        )
        player = ChatPlayers(endpoint, plan.calls).make(plan.envs[0], 0, 0)
        try:
            _, fault = await play(seat, seat.result, player, PATIENCE_S)
        except (AgentUnavailableError, JudgingError) as error:
            raise ConnectionLostError(connection.clean(f"The model cannot go on. {error}")) from None
        except EcomEnvError as error:
            raise ConnectionLostError(f"The episode cannot go on. {error}") from None
    return fault


def _waiting(connection: Connection, usage: Usage) -> str:
    return f"{connection.model} is thinking … {_spent(usage)}"


def _ended(connection: Connection, usage: Usage, fault: Fault | None) -> str:
    told = f"{connection.model} has played. {_spent(usage)}"
    return told if fault is None else f"{told} Its own fault ({fault.kind}): {connection.clean(fault.message)}"


def _spent(usage: Usage) -> str:
    requests = f"{usage.requests} request{'' if usage.requests == 1 else 's'}"
    return f"{requests}, {usage.prompt_tokens:,} tokens read, {usage.completion_tokens:,} written."
