"""Signs of life, so that the server soon gives up the places of a process that crashed.

One thread for a process sends one request a minute to each server on which the process plays. It is no task of an event
loop, because a trainer's loop may stand still for minutes. Envs that were dropped are forgotten without a word, and
with the last live episode the thread ends. A child process has a name and a thread of its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol
from uuid import uuid4
from weakref import WeakSet

import httpx

from ecom_rlve.client.connections import own_options

HEADER = "Ecom-Client"
INTERVAL_S = 60.0
"""A fifth of the time after which a server gives up by default."""
FIRST_S = 2.0
"""Seconds until the first one: most of the very short processes need none."""
_TIMEOUT_S = 10.0
_NO_SUCH_ROUTE = frozenset({404, 405})


class Player(Protocol):
    """What may hold a live episode."""

    @property
    def is_playing(self) -> bool:
        """Whether a live episode depends on it."""
        ...

    @property
    def server(self) -> tuple[httpx.URL, Mapping[str, str]]:
        """Where it plays, and the headers that it sends."""
        ...


class Heart:
    """The heartbeats of one process; safe to use from any thread."""

    def __init__(self) -> None:
        self.client = uuid4().hex
        """By which name servers know this process."""
        self._lock = threading.Lock()
        self._players: WeakSet[Player] = WeakSet()
        self._thread: threading.Thread | None = None
        self._deaf: set[httpx.URL] = set()
        """Servers that know no heartbeats."""

    def keep(self, player: Player) -> None:
        """Send heartbeats from now on, as long as ``player`` plays."""
        with self._lock:
            self._players.add(player)
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="ecom-rlve-heartbeat", daemon=True)
                # At the end of the interpreter no thread can begin any more.
                with suppress(RuntimeError):
                    thread.start()
                    self._thread = thread

    def beat(self, http: httpx.Client) -> bool:
        """Send one heartbeat to each server that is played on; False if there is none."""
        with self._lock:
            playing = [player for player in self._players if player.is_playing]
            if not playing:
                self._players.clear()
                self._thread = None
        servers = {(url, tuple(sorted(headers.items()))) for url, headers in (player.server for player in playing)}
        for url, headers in servers:
            if url not in self._deaf:
                self._tell(http, url, dict(headers))
        return bool(playing)

    def _run(self) -> None:
        _PAUSE.wait(FIRST_S)
        with httpx.Client(**own_options(), timeout=_TIMEOUT_S) as http:
            while self.beat(http):
                _PAUSE.wait(INTERVAL_S)

    def _tell(self, http: httpx.Client, url: httpx.URL, headers: dict[str, str]) -> None:
        # One that is lost does no harm: there are others in time.
        with suppress(httpx.RequestError):
            path = url.raw_path.partition(b"?")[0].rstrip(b"/") + b"/heartbeat"
            reply = http.post(url.copy_with(raw_path=path), headers={**headers, HEADER: self.client})
            if reply.status_code in _NO_SUCH_ROUTE:
                self._deaf.add(url)


_PAUSE = threading.Event()
"""Never set: waiting for it ends with the time or with the process."""
_of_process: dict[int, Heart] = {}


def heart() -> Heart:
    """Return the heart of this process; that of the process that it was forked from is another object."""
    return _of_process.setdefault(os.getpid(), Heart())
