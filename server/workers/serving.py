"""Serving as the settings ask: with this process, or with several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from socket import socket

import uvicorn

from ecom_rlve.catalog.sources import SourceReport
from ecom_rlve.catalog.store import open_store
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.operations.shared_figures import sharing
from ecom_rlve.server.settings import Settings
from ecom_rlve.server.workers.catalog import mapped, opened_shop
from ecom_rlve.server.workers.filesystem import require_local
from ecom_rlve.server.workers.supervisor import Supervisor

Work = Callable[[Settings, str, socket, Connection], None]
"""Serves the built catalog of a folder on a socket, and says through the connection that it lives."""


def serve_as_asked(
    settings: Settings,
    serve: Callable[[Settings, Shop], None],
    work: Work,
    tell: Callable[[SourceReport], None] = lambda _: None,
) -> None:
    """Serve until told to stop: by ``serve`` with this process, or by ``work`` in each of several.

    ``tell`` is called with what was read of the catalog's source, if it says so.

    Raises:
        CatalogError, BankError: catalog or bank cannot be opened.
        StoreError: the store cannot be opened, or lies where several processes cannot share it.
        WorkerFailedError: a worker cannot start.
    """
    if settings.workers > 1:
        with mapped(settings.catalog) as folder:
            tell(open_store(Path(folder)).report)
            _serve_with_workers(settings, folder, work)
        return
    with _catalog(settings) as opened:
        shop = opened_shop(opened)
        if shop.report is not None:
            tell(shop.report)
        serve(settings, shop)


@contextmanager
def _catalog(settings: Settings) -> Iterator[Settings]:
    """Yield the settings by which one process opens its catalog: where an index is kept, nothing need be built."""
    if settings.cache_dir is not None:
        yield settings
        return
    with mapped(settings.catalog) as folder:
        yield settings.model_copy(update={"catalog": folder})


def _serve_with_workers(settings: Settings, folder: str, work: Work) -> None:
    path = settings.store_path
    if path is not None:
        require_local(path)
    config = uvicorn.Config("", host=settings.address, port=settings.port, log_config=None, workers=settings.workers)
    with sharing(), config.bind_socket() as listener:
        Supervisor(partial(work, settings, folder, listener), settings.workers, settings.grace_s).run()
