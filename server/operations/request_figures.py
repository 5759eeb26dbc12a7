"""How many requests there are, how long they take and how they end, by route; and a line in the log for each."""

from __future__ import annotations

import logging
import time

from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ecom_rlve.server.operations.logs import Event
from ecom_rlve.server.operations.notes import Notes, note_here, noting

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0)
"""From a step on a small catalog to one that waits for a model."""
_NO_ROUTE = "none"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
_logger = logging.getLogger("ecom_rlve.server")


class RequestFigures:
    """Requests and frames. Every label is a closed set: routes as they were declared, never an address with ids."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            "ecom_rlve_request_seconds",
            "Seconds from a request, or a socket's frame, to its answer, by route, method or kind of frame, and status",
            ["route", "method", "status"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._errors = Counter("ecom_rlve_errors", "Requests and frames refused, by code", ["code"], registry=registry)
        self._children: dict[tuple[str, str, int], Histogram] = {}

    def observe(self, route: str, method: str, notes: Notes, seconds: float) -> None:
        """Count a request that was answered as ``notes`` say."""
        key = (route, method, notes.status)
        child = self._children.get(key)
        if child is None:
            child = self._children[key] = self._seconds.labels(route, method, str(notes.status))
        child.observe(seconds)
        if notes.code is not None:
            self._errors.labels(notes.code).inc()


class Frames:
    """Counts the frames of one socket, which are answered one after the other: each inside a ``with`` block.

    The block notes the frame's kind. Made once for a socket, because it is entered thousands of times a second.
    """

    __slots__ = ("_figures", "_notes", "_route", "_started")

    def __init__(self, figures: RequestFigures, route: str) -> None:
        """``route`` is the declared path of the socket. Make it in the task that serves the socket."""
        self._figures = figures
        self._route = route
        self._notes = note_here()
        self._started = 0.0

    def __enter__(self) -> Notes:
        """Begin a frame."""
        self._notes.clear()
        self._started = time.perf_counter()
        return self._notes

    def __exit__(self, *_: object) -> None:
        """Count it."""
        notes = self._notes
        self._figures.observe(self._route, notes.kind, notes, time.perf_counter() - self._started)


class Observed:
    """ASGI middleware, the outermost one: counts each HTTP request and, where ``logs`` says so, logs it.

    A line names the route, not the address: ids of episodes and sessions let whoever knows them play on.
    """

    def __init__(self, app: ASGIApp, figures: RequestFigures, logs: bool) -> None:
        self._app = app
        self._figures = figures
        self._logs = logs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        status = 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                status = message["status"]
            elif message["type"] == "websocket.accept":
                status = 101
            await send(message)

        started = time.perf_counter()
        with noting() as notes:
            try:
                await self._app(scope, receive, sent)
            finally:
                # Nothing was sent: the client went before there was an answer. Nginx calls that 499 too.
                notes.status = status or 499
                seconds = time.perf_counter() - started
                route, method = _route(scope), _method(scope)
                if scope["type"] == "http":
                    self._figures.observe(route, method, notes, seconds)
                if self._logs:
                    more = notes.fields()
                    line = Event(
                        "request", method=method, route=route, status=notes.status, s=round(seconds, 4), **more
                    )
                    _logger.info(line)


def _route(scope: Scope) -> str:
    """Return the declared path of the route that took the request, such as ``/episodes/{episode_id}/finish``."""
    path = getattr(scope.get("route"), "path", _NO_ROUTE)
    return str(path).replace(":path}", "}")


def _method(scope: Scope) -> str:
    method = scope.get("method", "WEBSOCKET")
    return method if method in _METHODS or scope["type"] == "websocket" else "other"
