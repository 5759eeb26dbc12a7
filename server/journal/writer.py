"""The one thread that writes to the store while episodes are played.

What one tick of the event loop hands over is written in one transaction, and so is what has piled up while the thread
was busy with the last. Nobody is told of success before the transaction is committed. A job that fails undoes its own
changes and nobody else's; where the transaction itself fails (a full disk, say) all its jobs have failed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from ecom_rlve.server.store.database import Database
from ecom_rlve.server.store.errors import StoreUnavailableError

T = TypeVar("T")
_MOST_AT_ONCE = 512
"""Jobs of one transaction: more would keep other workers from writing for long."""


@dataclass(slots=True)
class _Job:
    """Something to write, and who waits for it."""

    function: Callable[[], Any]
    is_single: bool
    """It is one statement, which the store itself makes whole or not at all."""
    waiting: asyncio.Future[Any] | None
    """None where nobody does."""
    outcome: Any = None
    error: Exception | None = None


class Writer:
    """Writes for one event loop at a time."""

    def __init__(self, database: Database, gathers_s: float = 0.0) -> None:
        """Write over a connection that nobody else uses; gather jobs for ``gathers_s`` seconds after the first."""
        self._database = database
        self._gathers_s = gathers_s
        self._handed: list[_Job] = []
        """What this tick of the event loop hands over."""
        self._queue: SimpleQueue[list[_Job] | None] = SimpleQueue()
        self._is_closed = False
        self.waiting = 0
        """Jobs that are not yet written."""
        self._thread = Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    async def run(self, function: Callable[[], T], *, is_single: bool = False) -> T:
        """Carry a function out in the thread, inside a transaction; return what it returns, once that is committed.

        Raises:
            StoreUnavailableError: the store cannot be written; the function has changed nothing.
        """
        if self._is_closed:
            raise StoreUnavailableError("the server is stopping")
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[T] = loop.create_future()
        job = _Job(function, is_single, waiting)
        if not self._handed:
            loop.call_soon(self._hand_over)
        self._handed.append(job)
        self.waiting += 1
        return await waiting

    def put(self, function: Callable[[], object]) -> None:
        """Have a function carried out as :meth:`run` does, before what is handed over later, and wait for nothing."""
        self._queue.put([_Job(function, False, None)])

    def close(self) -> None:
        """Write what was handed over, and end the thread."""
        self._is_closed = True
        self._queue.put(None)
        self._thread.join()

    def _hand_over(self) -> None:
        jobs, self._handed = self._handed, []
        self._queue.put(jobs)

    def _work(self) -> None:
        while (jobs := self._queue.get()) is not None:
            is_last = False
            if self._gathers_s:
                time.sleep(self._gathers_s)
            while len(jobs) < _MOST_AT_ONCE and not is_last:
                try:
                    more = self._queue.get_nowait()
                except Empty:
                    break
                is_last = more is None
                if more is not None:
                    jobs += more
            self._write(jobs)
            self._report(jobs)
            if is_last:
                return

    def _write(self, jobs: Sequence[_Job]) -> None:
        try:
            with self._database.transaction():
                for job in jobs:
                    self._carry_out(job)
        except Exception as error:
            for job in jobs:
                job.error = job.error or error

    def _carry_out(self, job: _Job) -> None:
        try:
            if job.is_single:
                job.outcome = job.function()
                return
            self._database.row("SAVEPOINT job")
            job.outcome = job.function()
            self._database.row("RELEASE job")
        except Exception as error:
            if not self._database.is_in_transaction:
                raise
            if not job.is_single:
                self._database.row("ROLLBACK TO job")
                self._database.row("RELEASE job")
            job.error = error

    def _report(self, jobs: Sequence[_Job]) -> None:
        """Have the event loop tell those who wait."""
        awaited = [(job, job.waiting) for job in jobs if job.waiting is not None]
        if awaited and not (loop := awaited[0][1].get_loop()).is_closed():
            loop.call_soon_threadsafe(self._tell, awaited)

    def _tell(self, awaited: Sequence[tuple[_Job, asyncio.Future[Any]]]) -> None:
        self.waiting -= len(awaited)
        for job, waiting in awaited:
            if waiting.done():
                continue
            if job.error is None:
                waiting.set_result(job.outcome)
            else:
                waiting.set_exception(job.error)
