"""The application. ``create_app(settings)`` is the only way to make one; importing this module builds nothing."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import socket
import time
from collections.abc import AsyncIterator, Callable
from multiprocessing.connection import Connection
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, WebSocket
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

import ecom_rlve
from ecom_rlve.envs.customer.voice import Voice
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.admission.gate import add_gate
from ecom_rlve.server.admission.leases import Named
from ecom_rlve.server.admission.listening import fitted, is_exposed, limits, protocols
from ecom_rlve.server.admission.tokens import Tokens
from ecom_rlve.server.admission.unguarded import Unguarded
from ecom_rlve.server.errors import translate
from ecom_rlve.server.operations.drain import DrainingServer
from ecom_rlve.server.operations.logs import Event, log_config
from ecom_rlve.server.operations.request_figures import Observed
from ecom_rlve.server.service import Service
from ecom_rlve.server.settings import Settings
from ecom_rlve.server.store.errors import StoreUnavailableError
from ecom_rlve.server.transport.api_page import add_api_page
from ecom_rlve.server.transport.routes import Routes, components
from ecom_rlve.server.transport.websocket import serve_socket
from ecom_rlve.server.voices import require_model
from ecom_rlve.server.web.mount import has_page, mount, page_of
from ecom_rlve.server.workers.catalog import opened_shop as opened_shop
from ecom_rlve.server.workers.serving import serve_as_asked
from ecom_rlve.server.workers.worker import HeardServer, become_worker

_TEND_EVERY_S, _REAP_EVERY_S = 5.0, 30.0
"""With a journal workers tell each other that they live; without one there is only something to forget."""
_GC_OBJECTS, _GC_OBJECTS_WORDED = 50_000, 2_000
"""A collection of young objects starts when so many were made and kept. With templates it takes about two milliseconds.
Requests to a model leave tasks and tracebacks behind, each of which costs a hundred times as much."""
_GC_GENERATIONS = (20, 20)
# Not __name__, which is "__main__" if this module is run.
_logger = logging.getLogger("ecom_rlve.server")


class _Api(FastAPI):
    """FastAPI whose OpenAPI document also holds the request bodies, which the handlers parse themselves.

    Why they do is told in :mod:`ecom_rlve.server.transport.routes`.
    """

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        if self.openapi_schema is None:
            schema = super().openapi()
            schema.setdefault("components", {}).setdefault("schemas", {}).update(components())
        return super().openapi()


def create_app(
    settings: Settings,
    *,
    shop: Shop | None = None,
    now: Callable[[], float] = time.monotonic,
    voice: Voice | None = None,
    is_lent: bool = False,
) -> FastAPI:
    """Build the server.

    Args:
        settings: what the operator chose.
        shop: an open shop; None opens ``settings.catalog`` here and now.
        now: clock in seconds, by which idle episodes expire.
        voice: words the customers instead of the voice that ``settings`` ask for.
        is_lent: a program that is not ours may serve it; the log says so if it does.

    Raises:
        TokensError: the file of tokens cannot be read.
        StoreError: the store cannot be opened.
        PageError: the page is asked for, and the extra that it needs is not installed.
    """
    tokens = Tokens(settings.token, settings.tokens, settings.tokens_file)
    shop = shop or opened_shop(settings)
    service = Service(settings, shop, now, voice)
    page = page_of(service, shop) if has_page(settings) else None

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await require_model(settings)
        facts = service.metadata()["catalog"]
        catalog = {"catalog": facts["source"], "size": facts["size"], "fingerprint": facts["fingerprint"]}
        where = {"host": settings.address, "port": settings.port}
        _logger.info(Event("start", **catalog, **where, version=ecom_rlve.__version__))
        watches = [asyncio.create_task(_tend(service)), asyncio.create_task(service.metrics.watch_lag())]
        if page is not None:
            watches.append(asyncio.create_task(page.warm_up()))
        yield
        for watch in watches:
            watch.cancel()
        if page is not None:
            await page.aclose()
        await service.aclose()

    app = _Api(
        title="EcomRLVE-GYM",
        description="Verifiable shopping-assistant environments. Play an episode: POST /reset, then POST /step.",
        version=ecom_rlve.__version__,
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        exception_handlers=dict.fromkeys((HTTPException, RequestValidationError, Exception), _answered),
    )
    app.state.service = service
    Routes(service).add_to(app.router)
    add_api_page(app)
    if page is not None:
        mount(app, page)

    @app.websocket("/ws")
    async def socket(websocket: WebSocket) -> None:
        await serve_socket(websocket, service, None)

    @app.websocket("/envs/{env}/ws")
    async def environment_socket(websocket: WebSocket, env: str) -> None:
        await serve_socket(websocket, service, env)

    app.add_middleware(Named)
    hosts = settings.allowed_hosts if settings.space_host is None else (*settings.allowed_hosts, settings.space_host)
    add_gate(app, tokens, hosts, settings.allowed_origins)
    app.add_middleware(Unguarded, limits=limits(settings), tells=is_lent)
    app.add_middleware(Observed, figures=service.metrics.requests, logs=settings.access_log)
    return app


async def _answered(_request: Request, error: Exception) -> Response:
    return translate(error).response()


async def _tend(service: Service) -> None:
    while True:
        every = _TEND_EVERY_S if service.settings.is_journalled else _REAP_EVERY_S
        await asyncio.sleep(min(every, service.settings.idle_ttl_s))
        try:
            expired = await service.tend()
            # It waits for the disk.
            await asyncio.to_thread(service.database.checkpoint)
        except StoreUnavailableError as error:
            _logger.warning(Event("store", error=error))
            continue
        except Exception as error:
            # Whatever it is: if nobody tended the episodes any more, their places would be lost.
            translate(error)
            continue
        if expired:
            _logger.info(Event("expired", episodes=expired, active=service.sessions.active))


def server_config(app: FastAPI, settings: Settings, **changes: Any) -> uvicorn.Config:
    """Return uvicorn's configuration: limits, pings that a stalled trainer survives, no compression, short log lines.

    ``changes`` replace single options of uvicorn.
    """
    options: dict[str, Any] = {
        **protocols(settings),
        "host": settings.address,
        "port": settings.port,
        "ws_ping_interval": settings.ws_ping_interval_s,
        "ws_ping_timeout": settings.ws_ping_timeout_s,
        "ws_max_size": settings.ws_max_frame_bytes,
        "ws_per_message_deflate": False,
        # Its lines hold addresses, and those hold the ids of episodes; ours name routes.
        "access_log": False,
        "log_level": None,
        "log_config": log_config(settings.log_level.upper(), settings.log_format),
        "server_header": False,
    }
    return uvicorn.Config(app, **{**options, **changes})


def serve(settings: Settings, shop: Shop | None = None) -> None:
    """Serve with this process until stopped; ``shop`` as for :func:`create_app`."""
    app, config = _prepared(settings, shop)
    with contextlib.suppress(KeyboardInterrupt):
        DrainingServer(config, app.state.service.drain).run()


def work(settings: Settings, folder: str, listener: socket.socket, speaking: Connection) -> None:
    """Serve as one of several processes; see :data:`~ecom_rlve.server.workers.serving.Work`."""
    become_worker()
    shop = opened_shop(settings.model_copy(update={"catalog": folder}))
    app, config = _prepared(settings, shop)
    HeardServer(config, app.state.service.drain, speaking).run([listener])


def _prepared(settings: Settings, shop: Shop | None) -> tuple[FastAPI, uvicorn.Config]:
    """Return the application and uvicorn's configuration, in a process that does nothing else but serve."""
    asked, settings = settings, fitted(settings)
    app = create_app(settings, shop=shop)
    calm_garbage_collection(_GC_OBJECTS if settings.simulator == "template" else _GC_OBJECTS_WORDED)
    config = server_config(app, settings)
    if settings.max_sessions < asked.max_sessions:
        _logger.warning(Event("few_open_files", places=settings.max_sessions, asked=asked.max_sessions))
    if is_exposed(settings):
        _logger.warning(Event("open_to_all", host=settings.address, advice="set ECOM_RLVE_TOKEN"))
    return app, config


def calm_garbage_collection(objects: int = _GC_OBJECTS) -> None:
    """Keep the garbage collector from walking through the catalog and live episodes again and again.

    The catalog is never collected. Young objects are looked at each time that ``objects`` were made and kept.

    Each step leaves some objects in its episode's log. With Python's own threshold these alone cause a collection every
    few dozen steps, which adds a quarter to the cost of a step.
    """
    gc.freeze()
    gc.set_threshold(objects, *_GC_GENERATIONS)


def main() -> None:
    """Serve with the settings of the process environment."""
    serve_as_asked(Settings(), serve, work)


def __getattr__(name: str) -> Any:
    """Build ``app`` when a server asks for ``ecom_rlve.server.app:app``, once."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    app = create_app(fitted(Settings()), is_lent=True)
    # Its lines hold addresses, and those hold the ids of episodes.
    logging.getLogger("uvicorn.access").disabled = True
    globals()["app"] = app
    return app


if __name__ == "__main__":
    main()
