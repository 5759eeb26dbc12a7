"""First messages worded ahead of time, so that a reset that leaves the seed to the server need not wait for the model.

For each environment and difficulty that resets ask for, a few seeds are kept whose first message is worded already. In
the end every one of them is given to a reset, even if the wording failed. So no kind of goal comes up more often than
it is drawn.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

from ecom_rlve.envs.customer.model.errors import VoiceError
from ecom_rlve.envs.episode.episode import EpisodeSpec
from ecom_rlve.envs.errors import EnvsError

SEEDS = 2**53
"""Seeds that a server draws are below this, so that they stay exact in clients whose numbers are doubles."""


@dataclass(slots=True)
class _Shelf:
    """The seeds of one kind of episode."""

    ready: deque[int] = field(default_factory=deque)
    under_way: int = 0


class Openings:
    """Seeds whose openings are worded. Belongs to one event loop."""

    def __init__(self, ahead: int, at_once: int, prepare: Callable[[EpisodeSpec], Awaitable[None]]) -> None:
        """Keep ``ahead`` seeds of each kind of episode; ``prepare`` words an opening, at most ``at_once`` at a time."""
        self._ahead = ahead
        self._room = asyncio.Semaphore(at_once)
        self._prepare = prepare
        self._shelves: dict[EpisodeSpec, _Shelf] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def deal(self, spec: EpisodeSpec) -> int | None:
        """Return a prepared seed for an episode like ``spec``, and start preparing others; None if none is ready.

        Episodes with overridden axes are not prepared: there are too many combinations.
        """
        if not self._ahead or spec.axes:
            return None
        kind = replace(spec, seed=0)
        shelf = self._shelves.setdefault(kind, _Shelf())
        seed = shelf.ready.popleft() if shelf.ready else None
        for _ in range(self._ahead - len(shelf.ready) - shelf.under_way):
            shelf.under_way += 1
            task = asyncio.get_running_loop().create_task(self._fill(kind, shelf))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return seed

    async def aclose(self) -> None:
        """Stop preparing."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fill(self, kind: EpisodeSpec, shelf: _Shelf) -> None:
        seed = secrets.randbelow(SEEDS)
        try:
            # If the model fails or the seed cannot be served, the reset will get the same error and report it.
            with suppress(VoiceError, EnvsError):
                async with self._room:
                    await self._prepare(replace(kind, seed=seed))
                shelf.ready.append(seed)
        finally:
            shelf.under_way -= 1
