"""The page as a part of the server: built when it is first wanted, because importing Gradio takes seconds."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.operations.logs import Event
from ecom_rlve.server.service import Service
from ecom_rlve.server.settings import Settings
from ecom_rlve.server.web import static
from ecom_rlve.server.web.games import Games

PATH = "/web"
_logger = logging.getLogger(__name__)


class PageError(Exception):
    """The page is asked for, and what it needs is not installed."""


def has_page(settings: Settings) -> bool:
    """Tell whether a server has the page, without importing what it needs.

    Raises:
        PageError: it should and cannot.
    """
    if settings.workers > 1:
        # What a visitor plays is known to one process.
        if settings.web:
            raise PageError("the page belongs to one process: serve with one worker, or set ECOM_RLVE_WEB=false")
        return False
    is_installed = find_spec("gradio") is not None
    if settings.web and not is_installed:
        raise PageError("the page needs the extra: pip install 'ecom-rlve[web]'; or set ECOM_RLVE_WEB=false")
    return is_installed if settings.web is None else settings.web


def page_of(service: Service, shop: Shop) -> Page:
    """Return the page of a service over a shop; nothing is built yet."""
    games = Games(service, shop)

    async def build() -> Starlette:
        await games.look()
        return await asyncio.to_thread(_application, games)

    return Page(build)


def mount(app: Starlette, page: Page) -> None:
    """Serve the page at its path, with and without a slash at the end."""

    async def below(_request: Request) -> Response:
        # The page's own addresses are relative. This one is too, so that a path prefix stays.
        return RedirectResponse("web/", 307)

    async def icon(_request: Request) -> Response:
        # Browsers ask for it by themselves, before Gradio's page can name another.
        return Response(files(static).joinpath("icon.svg").read_bytes(), media_type="image/svg+xml")

    app.add_route(PATH, below, include_in_schema=False)
    app.add_route("/favicon.ico", icon, include_in_schema=False)
    app.mount(PATH, page)


def _application(games: Games) -> Starlette:
    # Read when Gradio is imported; without it, Gradio tells its makers of each start.
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    made: Starlette = import_module("ecom_rlve.server.web.page").application(games)
    return made


class Page:
    """The page below :data:`PATH`, as an ASGI application that comes into being with its first request."""

    def __init__(self, build: Callable[[], Awaitable[Starlette]]) -> None:
        """``build`` makes the application, whose lifespan is run as long as the server's."""
        self._build = build
        self._app: Starlette | None = None
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def open(self) -> Starlette:
        """Return the page's application, made and started once."""
        async with self._opening:
            if self._app is None:
                app = await self._build()
                await self._stack.enter_async_context(app.router.lifespan_context(app))
                self._app = app
                _logger.info(Event("page", path=PATH))
        return self._app

    async def warm_up(self) -> None:
        """Make the page before anybody asks for it; a failure is logged, and the first visitor meets it again."""
        try:
            await self.open()
        except Exception:
            _logger.exception("the page cannot be made")

    async def aclose(self) -> None:
        """Stop the page."""
        await self._stack.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request below the path."""
        app = await self.open()
        # The page's application knows its own path, so it gets the scope as it was before the mount.
        before = scope.get("root_path", "").removesuffix(PATH)
        await app({**scope, "root_path": before, "app": app}, receive, send)
