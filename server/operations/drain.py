"""Stopping on SIGTERM without losing what is being worked on, and in time whatever clients do.

    serving ── SIGTERM ──> draining: resets are refused ── no step is running, or time is short ──> closing ──> gone

While it drains, a server answers everything but resets, and ``/ready`` says 503. Closing, it takes no connection any
more, tells sockets to come back (1012), and waits for answers that are being read. What then still hangs, such as a
body that was half sent, is cut. With a journal the episodes go on at the next server.
"""

from __future__ import annotations

import logging
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn

from ecom_rlve.server.errors import DrainingError
from ecom_rlve.server.operations.logs import Event

_CLOSING_SHARE = 0.25
"""Of the grace, for closing: answers that are being read, and letting go of the store."""
_logger = logging.getLogger("ecom_rlve.server")


class Drain:
    """Whether a server is about to stop, and what it still works on."""

    def __init__(self, grace_s: float) -> None:
        """``grace_s`` is the most time between the signal and the end, in seconds."""
        self._grace_s = grace_s
        self._began: float | None = None
        self.running = 0
        """Steps and resets that are being worked on."""

    @property
    def has_begun(self) -> bool:
        """Resets are refused."""
        return self._began is not None

    @property
    def is_over(self) -> bool:
        """Nothing is being worked on, or time is short."""
        return self._began is not None and (not self.running or self.left_s <= self._grace_s * _CLOSING_SHARE)

    @property
    def left_s(self) -> float:
        """Seconds that are left until the end."""
        return self._grace_s if self._began is None else self._began + self._grace_s - time.monotonic()

    def begin(self) -> None:
        """Refuse resets from now on; repeated calls change nothing."""
        if self._began is None:
            self._began = time.monotonic()

    def require_open(self) -> None:
        """Raise :class:`DrainingError` once the drain has begun."""
        if self._began is not None:
            raise DrainingError("this server is about to stop; try again, another one or the next one will answer")

    @contextmanager
    def working(self) -> Iterator[None]:
        """Let the drain wait for what is done inside the block."""
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1


class DrainingServer(uvicorn.Server):
    """uvicorn's server, which drains on SIGTERM; Ctrl-C, and a second SIGTERM, close it at once."""

    def __init__(self, config: uvicorn.Config, drain: Drain) -> None:
        super().__init__(config)
        self._drain = drain
        self._is_told = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin the drain, or close. Runs as a signal's handler, so it only sets flags."""
        if sig == signal.SIGTERM and not self._drain.has_begun and not self.should_exit:
            self._captured_signals.append(sig)
            self._drain.begin()
            return
        self._drain.begin()
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Close once the drain is over."""
        if self._drain.has_begun and not self._is_told:
            self._is_told = True
            _logger.info(Event("drain", grace_s=round(self._drain.left_s, 1)))
        return self._drain.is_over or await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close, and cut at the end of the grace what still hangs."""
        left = max(0.0, self._drain.left_s)
        # uvicorn declares whole seconds and waits for any number of them.
        self.config.timeout_graceful_shutdown = max(1, int(left * (1 - _CLOSING_SHARE)))
        await super().shutdown(sockets)
