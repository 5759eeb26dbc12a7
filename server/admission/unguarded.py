"""What can still be limited where other protocols serve the application, as with ``uvicorn ecom_rlve.server.app:app``.

A header has been read by then, whatever its size, and an answer that nobody reads is not noticed. So
:mod:`~ecom_rlve.server.admission.protocols` are better, and requests that came through them pass unchanged.
"""

from __future__ import annotations

import asyncio
import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ecom_rlve.server.admission.door import Limits
from ecom_rlve.server.admission.errors import (
    AdmissionError,
    HeaderTooLargeError,
    RequestTimeoutError,
    UrlTooLongError,
)
from ecom_rlve.server.errors import translate
from ecom_rlve.server.operations.logs import Event

GUARDED = "ecom_rlve.guarded"
"""The extension that guarded protocols name in each request's scope."""
MOST_HEADERS = 100
_ADVICE = "start with 'ecom-rlve serve', or give uvicorn the protocols that docs/security.md names"
_logger = logging.getLogger("ecom_rlve.server")


class Unguarded:
    """ASGI middleware: sizes of headers and addresses, and the time of bodies, for requests that nobody has guarded."""

    def __init__(self, app: ASGIApp, limits: Limits, *, tells: bool) -> None:
        """``tells``: the log says once that such a request has come."""
        self._app = app
        self._limits = limits
        self._tells = tells

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it with 408, 414 or 431."""
        if scope["type"] != "http" or GUARDED in scope.get("extensions", ()):
            await self._app(scope, receive, send)
            return
        if self._tells:
            self._tells = False
            _logger.warning(Event("unguarded", advice=_ADVICE))
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, self._timely(receive), send)
        else:
            await translate(refusal).response()(scope, receive, send)

    def _refusal(self, scope: Scope) -> AdmissionError | None:
        limits, headers = self._limits, scope["headers"]
        address = len(scope.get("raw_path") or scope["path"].encode()) + 1 + len(scope["query_string"])
        if address > limits.url_bytes:
            return UrlTooLongError(f"an address of at most {limits.url_bytes} bytes is read")
        if address + sum(len(name) + len(value) + 4 for name, value in headers) > limits.header_bytes:
            return HeaderTooLargeError(f"a header of at most {limits.header_bytes} bytes is read")
        if len(headers) > MOST_HEADERS:
            return HeaderTooLargeError(f"at most {MOST_HEADERS} header lines are read")
        return None

    def _timely(self, receive: Receive) -> Receive:
        """Return what receives a body that must have come in time; behind it there is nothing to wait for."""
        deadline: float | None = asyncio.get_running_loop().time() + self._limits.body_timeout_s

        async def received() -> Message:
            nonlocal deadline
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise RequestTimeoutError("the rest of the request did not come in time; send it again") from None
            if not message.get("more_body"):
                deadline = None
            return message

        return received
