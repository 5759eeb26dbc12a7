"""The process that starts the workers, starts those again that have died, and passes on what it is told.

    start ── every worker serves ──> serving ── SIGTERM, SIGINT ──> told to stop ── all have ended ──> gone
                                        ├── a worker dies, or says nothing for long ──> another takes its place
                                        └── SIGHUP ──> one after the other is replaced by a new one

All workers listen on one socket, which this process has bound; while one of them dies the others take its connections.
A worker that cannot start ends the server, unless one has served before: then the disk may be full, and it is tried
again.
"""

from __future__ import annotations

import logging
import multiprocessing
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType

from ecom_rlve.server.operations.logs import Event

SILENT_AFTER_S = 60.0
"""Seconds after which a worker that says nothing is killed. Each says something several times a second."""
_LOOK_EVERY_S = 0.5
_START_S = 300.0
"""Seconds in which a worker must begin to serve: on a cold disk a large catalog takes a while."""
_AGAIN_AFTER_S = 1.0
"""Seconds until a worker is started again that could not start."""
_STOP_SPARE_S = 5.0
"""Seconds that a worker gets beyond its grace, before it is killed."""
_logger = logging.getLogger("ecom_rlve.server")


class WorkerFailedError(Exception):
    """A worker ended before it served."""


@dataclass(slots=True)
class Seat:
    """A worker's place."""

    process: BaseProcess
    heard: Connection
    """Through which it says that it lives."""
    started_at: float = field(default_factory=time.monotonic)
    spoke_at: float | None = None
    """When it last said so; None before it serves."""

    def listen(self) -> None:
        """Take in what it has said."""
        try:
            while self.heard.poll():
                self.heard.recv_bytes()
                self.spoke_at = time.monotonic()
        except (EOFError, OSError):
            # It is dead, which its process tells.
            return

    @property
    def is_silent(self) -> bool:
        """Whether it has said nothing for too long."""
        since, most = (self.started_at, _START_S) if self.spoke_at is None else (self.spoke_at, SILENT_AFTER_S)
        return time.monotonic() - since > most


class Supervisor:
    """Runs in the main thread, whose signals it takes."""

    def __init__(self, target: Callable[[Connection], None], workers: int, grace_s: float) -> None:
        """``target`` serves until told to stop, in a new process, and says through its argument that it lives.

        It must be a function that can be pickled. A worker that has not stopped ``grace_s`` seconds after it was told
        to is killed.
        """
        self._target = target
        self._workers = workers
        self._grace_s = grace_s
        self.seats: list[Seat] = []
        """The workers' places."""
        self._signals: list[int] = []
        self._has_served = False

    def run(self) -> None:
        """Serve until told to stop.

        Raises:
            WorkerFailedError: a worker cannot start.
        """
        told = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        before = [signal.signal(each, self._note) for each in told]
        try:
            self.seats = [self._started() for _ in range(self._workers)]
            while not self._is_told_to_stop():
                self.look()
                if signal.SIGHUP in self._signals:
                    self._signals.remove(signal.SIGHUP)
                    self._replace_all()
        finally:
            for seat in self.seats:
                seat.process.terminate()
            self._join(self.seats)
            for number, handler in zip(told, before, strict=True):
                signal.signal(number, handler)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._signals.append(number)

    def _is_told_to_stop(self) -> bool:
        return signal.SIGTERM in self._signals or signal.SIGINT in self._signals

    def look(self) -> None:
        """Wait for something to happen, and start workers in the place of dead and of silent ones.

        Raises:
            WorkerFailedError: one has died before any worker served.
        """
        wait([seat.process.sentinel for seat in self.seats], _LOOK_EVERY_S)
        # All are heard before any is judged: where one serves, the death of another that still starts ends nothing.
        for seat in self.seats:
            seat.listen()
            self._has_served = self._has_served or seat.spoke_at is not None
        for place, seat in enumerate(self.seats):
            if seat.process.is_alive() and not seat.is_silent:
                continue
            seat.process.kill()
            seat.process.join()
            if seat.spoke_at is None:
                if not self._has_served:
                    raise WorkerFailedError("a worker could not start; its own lines above say why")
                time.sleep(_AGAIN_AFTER_S)
            _logger.warning(Event("worker_died", pid=seat.process.pid, exit=seat.process.exitcode))
            self.seats[place] = self._started()

    def _started(self) -> Seat:
        context = multiprocessing.get_context("spawn")
        heard, speaking = context.Pipe(duplex=False)
        process = context.Process(target=self._target, args=(speaking,), name="worker")
        process.start()
        speaking.close()
        return Seat(process, heard)

    def _replace_all(self) -> None:
        """Replace each worker by a new one, which serves before the old one is told to stop."""
        for place, old in enumerate(tuple(self.seats)):
            new = self._started()
            while self._is_awaited(new):
                wait([new.heard, new.process.sentinel], _LOOK_EVERY_S)
                new.listen()
            if new.spoke_at is None:
                new.process.kill()
                new.process.join()
                _logger.error(Event("worker_not_replaced", pid=old.process.pid))
                return
            self.seats[place] = new
            old.process.terminate()
            self._join([old])

    def _is_awaited(self, new: Seat) -> bool:
        is_starting = new.spoke_at is None and new.process.is_alive() and not new.is_silent
        return is_starting and not self._is_told_to_stop()

    def _join(self, seats: list[Seat]) -> None:
        deadline = time.monotonic() + self._grace_s + _STOP_SPARE_S
        for each in seats:
            each.process.join(max(0.0, deadline - time.monotonic()))
            if each.process.is_alive():
                each.process.kill()
                each.process.join()
