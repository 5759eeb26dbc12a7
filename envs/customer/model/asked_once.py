"""One answer for each key: everyone who asks with the same key gets the same answer, and it is fetched only once.

The episodes of a group ask the same things at about the same time. The first answer that anyone gets is kept for all,
even if it only replaced an answer that took too long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")

_KEPT = 1 << 17
"""How many answers are remembered; the oldest are dropped first."""


class Flights(Generic[T]):
    """Answers by key, including those still being fetched. Belongs to one event loop at a time."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept
        self._settled: dict[str, T] = {}
        self._under_way: dict[str, asyncio.Task[T]] = {}

    async def answer(
        self, key: str, seek: Callable[[], Awaitable[T]], budget_s: float | None, otherwise: Callable[[], Awaitable[T]]
    ) -> T:
        """Return the answer of ``seek``, or that of ``otherwise`` if ``seek`` takes longer than ``budget_s`` seconds.

        ``budget_s`` None: no limit. An error of ``seek`` or ``otherwise`` is raised and not remembered.
        """
        if key in self._settled:
            return self._settled[key]
        task = self._task(key, seek)
        # wait() does not cancel the task if this caller is cancelled: others may be waiting for the same answer.
        await asyncio.wait([task], timeout=budget_s)
        if key in self._settled:
            return self._settled[key]
        if task.done() and not task.cancelled():
            return self._settle(key, task.result())
        substitute = self._settle(key, await otherwise())
        task.cancel()
        return substitute

    async def aclose(self) -> None:
        """Cancel everything that is still being fetched."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _task(self, key: str, seek: Callable[[], Awaitable[T]]) -> asyncio.Task[T]:
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.ensure_future(self._sought(seek))
            task.add_done_callback(lambda done: self._land(key, done))
        return task

    @staticmethod
    async def _sought(seek: Callable[[], Awaitable[T]]) -> T:
        return await seek()

    def _land(self, key: str, task: asyncio.Task[T]) -> None:
        self._under_way.pop(key, None)
        if not task.cancelled() and task.exception() is None:
            self._settle(key, task.result())

    def _settle(self, key: str, answer: T) -> T:
        """Remember the answer unless the key has one already; return the one that is remembered."""
        settled = self._settled.setdefault(key, answer)
        if len(self._settled) > self._kept:
            del self._settled[next(iter(self._settled))]
        return settled


class Pace:
    """Lets a burst of work through one piece at a time, so that the event loop can do other things in between."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def turn(self) -> None:
        """Return when it is the caller's turn."""
        async with self._lock:
            await asyncio.sleep(0)
