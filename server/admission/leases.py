"""Leases: a client that sends heartbeats and falls silent has crashed, and its places are given up in minutes.

A client names itself in the header ``Ecom-Client`` of its resets and of its heartbeats. One that never sent a heartbeat
has no lease: its episodes expire when nobody has used them for the much longer idle time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from starlette.types import ASGIApp, Receive, Scope, Send

from ecom_rlve.server.admission import tokens

HEADER = "Ecom-Client"
_HEADER = HEADER.lower().encode()
_MOST_CLIENTS = 10_000
_MAX_NAME = 255
_CLIENT: ContextVar[str | None] = ContextVar("client", default=None)


class Named:
    """ASGI middleware: notes what client sends a request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        for name, value in scope.get("headers", ()):
            if name == _HEADER and 1 <= len(value) <= _MAX_NAME:
                _CLIENT.set(value.decode("latin-1"))
        await self._app(scope, receive, send)


def client() -> str | None:
    """Return the client that the running task works for, told apart by accounts; None if it did not name itself."""
    name = _CLIENT.get()
    return None if name is None else tokens.own_name(name)


class Leases:
    """When each client last gave a sign of life."""

    def __init__(self, lease_s: float, now: Callable[[], float]) -> None:
        """A lease ends ``lease_s`` seconds after the last heartbeat by the clock ``now``."""
        self.lease_s = lease_s
        self._now = now
        self._beats: dict[str, float] = {}
        self._unheard: set[str] = set()

    def beat(self, client: str) -> None:
        """Note a heartbeat. If there are very many clients, the one that was silent for longest loses its lease."""
        self._beats.pop(client, None)
        self._beats[client] = self._now()
        self._unheard.add(client)
        if len(self._beats) > _MOST_CLIENTS:
            silent = next(iter(self._beats))
            del self._beats[silent]
            self._unheard.discard(silent)

    def heard(self) -> list[str]:
        """Return the clients that have sent heartbeats since the last call, in order."""
        heard, self._unheard = sorted(self._unheard), set()
        return heard

    def is_lost(self, client: str | None) -> bool:
        """Tell whether a client has sent heartbeats and sends none any more."""
        beat = None if client is None else self._beats.get(client)
        return beat is not None and self._now() - beat > self.lease_s
