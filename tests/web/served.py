"""A server with the page, as tests run it: ``python served.py [PREFIX]``; below a prefix as behind a proxy."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from ecom_rlve.server.app import create_app, server_config
from ecom_rlve.server.settings import Settings


def main(prefix: str) -> None:
    """Serve until terminated."""
    settings = Settings()
    app = create_app(settings)

    @contextlib.asynccontextmanager
    async def lifespan(_proxy: Starlette) -> AsyncIterator[None]:
        async with app.router.lifespan_context(app):
            yield

    # A proxy that hands on what comes below the prefix tells the application of it, and this is how.
    proxy = Starlette(routes=[Mount(prefix, app=app)], lifespan=lifespan) if prefix else app
    # Gradio's page keeps a stream open, and nobody waits for it to end.
    config = server_config(app, settings, timeout_graceful_shutdown=1)
    config.app = proxy
    uvicorn.Server(config).run()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
