"""Many episodes at once, a bounded number of them live: what :meth:`AsyncEcomEnv.batch` does.

An episode that fails is an outcome of its own and loses none of the others. While the server has no place the episode
waits for one. Whoever stops iterating, or is cancelled, leaves no live episode behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar
from uuid import uuid4

from ecom_rlve.client.errors import CapacityError
from ecom_rlve.client.protocol import StepResult, backoff

T = TypeVar("T")


class Resets(Protocol):
    """What a batch itself does with an env."""

    async def reset(self, **arguments: Any) -> StepResult:
        """Start an episode."""
        ...

    async def close(self) -> None:
        """End a live episode."""
        ...


E = TypeVar("E", bound=Resets)


@dataclass(frozen=True, slots=True)
class Played(Generic[T]):
    """An episode that was played as it should."""

    index: int
    """Place of ``spec`` among the specs, from 0."""
    spec: Mapping[str, Any]
    value: T
    """What ``play`` returned."""


@dataclass(frozen=True, slots=True)
class Failed:
    """An episode that was not; it has no reward."""

    index: int
    spec: Mapping[str, Any]
    error: Exception
    """What the reset or ``play`` raised."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a batch is."""

    begun: int = 0
    """Episodes that were taken up, waiting ones too."""
    waiting: int = 0
    """Episodes for which the server has no place yet."""
    played: int = 0
    failed: int = 0


async def play_batch(
    open_env: Callable[[], E],
    specs: Iterable[Mapping[str, Any]],
    play: Callable[[E, StepResult], Awaitable[T]],
    *,
    concurrency: int,
    progress: Callable[[Progress], None],
) -> AsyncGenerator[Played[T] | Failed, None]:
    """Yield an outcome for every spec, as they come; each episode has an env of its own from ``open_env``.

    Raises ``ValueError`` if ``concurrency`` is below 1.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency must be at least 1, not {concurrency}")
    batch = _Batch(open_env, play, progress)
    left = enumerate(specs)
    running: set[asyncio.Task[Played[T] | Failed]] = set()
    try:
        while True:
            for index, spec in islice(left, concurrency - len(running)):
                running.add(asyncio.create_task(batch.outcome(index, spec)))
            if not running:
                return
            ended, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                yield task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _closed(env: Resets) -> None:
    """Close an env, to the end even if this is cancelled: its episode and its connections would stay behind."""
    closing = asyncio.ensure_future(env.close())
    try:
        await asyncio.shield(closing)
    except asyncio.CancelledError:
        await closing
        raise


class _Batch(Generic[E, T]):
    """What the episodes of one batch share."""

    def __init__(
        self,
        open_env: Callable[[], E],
        play: Callable[[E, StepResult], Awaitable[T]],
        progress: Callable[[Progress], None],
    ) -> None:
        self._open_env = open_env
        self._play = play
        self._report = progress
        self._progress = Progress()

    async def outcome(self, index: int, spec: Mapping[str, Any]) -> Played[T] | Failed:
        """Play one episode in an env of its own, and leave nothing of it behind."""
        self._note(begun=1)
        env = self._open_env()
        try:
            value = await self._play(env, await self._begun(env, spec))
        except Exception as error:
            self._note(failed=1)
            return Failed(index, spec, error)
        finally:
            await _closed(env)
        self._note(played=1)
        return Played(index, spec, value)

    async def _begun(self, env: E, spec: Mapping[str, Any]) -> StepResult:
        """Reset an env, as soon as the server has a place for it."""
        # With an id of its own the episode can be ended even if this is cancelled before its reset is answered.
        arguments = {"episode_id": uuid4().hex, **spec}
        refused = 0
        try:
            while True:
                with suppress(CapacityError):
                    return await env.reset(**arguments)
                refused += 1
                if refused == 1:
                    self._note(waiting=1)
                await asyncio.sleep(backoff(str(arguments["episode_id"]), refused))
        finally:
            if refused:
                self._note(waiting=-1)

    def _note(self, *, begun: int = 0, waiting: int = 0, played: int = 0, failed: int = 0) -> None:
        seen = self._progress
        self._progress = Progress(
            seen.begun + begun, seen.waiting + waiting, seen.played + played, seen.failed + failed
        )
        self._report(self._progress)
