"""The gate in front of the application: the host that was meant, the page that asks, the token.

``/health`` and ``/ready`` pass without any of it.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from ecom_rlve.server.admission import tokens
from ecom_rlve.server.admission.errors import ForbiddenError, UnauthorizedError
from ecom_rlve.server.admission.open_paths import OPEN_PATHS
from ecom_rlve.server.admission.tokens import Tokens
from ecom_rlve.server.errors import translate

_ANY = "*"
_METHODS = ("GET", "POST", "PUT", "DELETE")
_HEADERS = ("Authorization", "Content-Type")
_PAGE = "/web"


class KnownHosts:
    """ASGI middleware: the request was meant for this server, and no page of another site sends it.

    A page that a browser has loaded from elsewhere can reach a server on the same machine: directly, and where its own
    name is made to resolve to that machine (DNS rebinding). The first shows in ``Origin``, the second in ``Host``: such
    a name is a public one, so addresses, ``localhost`` and names without a dot are safe.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], origins: Collection[str]) -> None:
        """``hosts`` are served beside the safe ones, ``*`` is any; pages of ``origins`` may ask too."""
        self._app = app
        self._hosts = {host.lower() for host in hosts}
        self._origins = {origin.rstrip("/").lower() for origin in origins}
        # Nearly all requests name the server in the same way.
        self._serves = lru_cache(maxsize=256)(self._is_served)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it with 403."""
        if scope["type"] == "lifespan" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        hosts, origin = [], None
        for name, value in scope["headers"]:
            if name == b"host":
                hosts.append(value.decode("latin-1"))
            elif name == b"origin":
                origin = value.decode("latin-1")
        if len(hosts) > 1 or not all(map(self._serves, hosts)):
            why = "this name of the server is not among its ECOM_RLVE_ALLOWED_HOSTS"
        elif not self._is_asked_by(origin, "".join(hosts)):
            why = "pages of this origin are not among the server's ECOM_RLVE_ALLOWED_ORIGINS"
        else:
            await self._app(scope, receive, send)
            return
        await _refuse(ForbiddenError(why), scope, receive, send)

    def _is_served(self, host: str) -> bool:
        if _ANY in self._hosts:
            return True
        try:
            name = urlsplit(f"//{host}").hostname
        except ValueError:
            return False
        if not name:
            return False
        return name in self._hosts or name.endswith(".localhost") or "." not in name.rstrip(".") or _is_address(name)

    def _is_asked_by(self, origin: str | None, host: str) -> bool:
        """Tell whether no browser says where a request comes from, or it comes from here or from who may ask."""
        if origin is None:
            return True
        origin = origin.lower()
        return origin in self._origins or origin.partition("://")[2] == host.lower() != ""


class Gate:
    """ASGI middleware: every request and every WebSocket handshake carries ``Authorization: Bearer <token>``."""

    def __init__(self, app: ASGIApp, tokens: Tokens) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on for its visitor, or refuse it with 401 or 403."""
        if scope["type"] != "lifespan" and scope["path"] not in OPEN_PATHS:
            try:
                self._let_in(scope)
            except (UnauthorizedError, ForbiddenError) as error:
                await _refuse(error, scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _let_in(self, scope: Scope) -> None:
        visitor = self._tokens.admit(Headers(scope=scope).get("authorization", ""))
        if visitor is None:
            raise UnauthorizedError("send the header 'Authorization: Bearer <token>' with a token of the server")
        tokens.visit(visitor)
        path: str = scope["path"].removeprefix(scope.get("root_path", ""))
        if path == _PAGE or path.startswith(f"{_PAGE}/"):
            # It shows what a customer wanted.
            tokens.require(tokens.Scope.JUDGE)
        elif scope["type"] == "websocket":
            tokens.require(tokens.Scope.PLAY)


def add_gate(app: Starlette, tokens: Tokens, hosts: Collection[str], origins: Collection[str]) -> None:
    """Put the gate in front of an application.

    A browser may read answers only for pages of ``origins``; without any, no header invites a page.
    """
    # The last one added stands in front.
    if not tokens.is_open:
        app.add_middleware(Gate, tokens=tokens)
    if origins:
        app.add_middleware(CORSMiddleware, allow_origins=list(origins), allow_methods=_METHODS, allow_headers=_HEADERS)
    app.add_middleware(KnownHosts, hosts=hosts, origins=origins)


async def _refuse(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    fault = translate(error)
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": fault.row.code})
        return
    await fault.response()(scope, receive, send)


def _is_address(name: str) -> bool:
    try:
        ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True
