"""One worker: a server of the same application on a socket that all workers share."""

from __future__ import annotations

import os
import signal
import socket
import threading
from contextlib import suppress
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait

import uvicorn

from ecom_rlve.server.app import opened_shop, prepared
from ecom_rlve.server.operations.drain import Drain, DrainingServer
from ecom_rlve.server.settings import Settings

_TICKS = 10
"""uvicorn ticks ten times a second."""


class _Heard(DrainingServer):
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


def work(settings: Settings, folder: str, listener: socket.socket, speaking: Connection) -> None:
    """Serve the catalog of ``folder`` on ``listener`` until told to stop; say through ``speaking`` that one lives."""
    _end_with_parent()
    # Ctrl-C reaches every process of a terminal; the supervisor says when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    shop = opened_shop(settings.model_copy(update={"catalog": folder}))
    app, config = prepared(settings, shop)
    _Heard(config, app.state.service.drain, speaking).run([listener])


def _end_with_parent() -> None:
    """Stop, as on SIGTERM, when the supervisor has died without a word."""
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent", daemon=True).start()
