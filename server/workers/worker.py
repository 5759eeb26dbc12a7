"""What a worker is, beside a server: it says that it lives, and ends with its supervisor."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait

import uvicorn

from ecom_rlve.server.operations.drain import Drain, DrainingServer

_TICKS = 10
"""uvicorn ticks ten times a second."""


class HeardServer(DrainingServer):
    """A server that says every second that its event loop runs."""

    def __init__(self, config: uvicorn.Config, drain: Drain, speaking: Connection) -> None:
        super().__init__(config, drain)
        self._speaking = speaking

    async def on_tick(self, counter: int) -> bool:
        """Say so, and go on."""
        if counter % _TICKS == 0:
            # Without a supervisor this process stops soon.
            with suppress(OSError):
                self._speaking.send_bytes(b".")
        return await super().on_tick(counter)


def become_worker() -> None:
    """Leave it to the supervisor when to stop, and stop, as on SIGTERM, when that has died without a word."""
    # Ctrl-C reaches every process of a terminal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent", daemon=True).start()
