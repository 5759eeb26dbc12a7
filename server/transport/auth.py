"""The optional bearer token."""

from __future__ import annotations

from hmac import compare_digest

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from ecom_rlve.server.errors import UnauthorizedError, translate

_OPEN_PATHS = frozenset({"/health", "/ready"})


class BearerToken:
    """ASGI middleware: every request and every WebSocket handshake must carry ``Authorization: Bearer <token>``."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it with 401."""
        if scope["type"] == "lifespan" or scope["path"] in _OPEN_PATHS or self._admits(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        fault = translate(UnauthorizedError("send the header 'Authorization: Bearer <token>' with the server's token"))
        if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": fault.row.code})
            return
        await fault.response()(scope, receive, send)

    def _admits(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and compare_digest(given.strip().encode(), self._expected)
