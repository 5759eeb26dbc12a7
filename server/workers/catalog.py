"""The catalog of a server, built once by a process of its own and mapped by every worker.

What a build needs (scikit-learn, scipy, data sets) and leaves in memory stays in that process.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path

from ecom_rlve.catalog.build import build_catalog
from ecom_rlve.catalog.errors import CatalogError
from ecom_rlve.catalog.store import is_store
from ecom_rlve.envs.registry import add_bank
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.settings import Settings


def opened_shop(settings: Settings) -> Shop:
    """Open the shop of a server; raises ``SourceError``, ``StoreError`` and ``BankError``."""
    shop = Shop.open(settings.catalog, settings.cache_dir)
    if settings.bank:
        add_bank(shop, settings.bank)
    return shop


@contextmanager
def mapped(source: str) -> Iterator[str]:
    """Yield the folder of a built catalog: ``source`` itself where it is one, else a new one that goes with the block.

    Raises:
        CatalogError: it cannot be built.
    """
    if is_store(source):
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="ecom-rlve-catalog-") as temporary:
        folder = Path(temporary) / "catalog"
        try:
            # Spawned: a fork would keep what this process has in memory.
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                pool.submit(_build, source, folder).result()
        except BrokenProcessPool as error:
            raise CatalogError(
                f"the process that built the catalog {source} has died; is there enough memory?"
            ) from error
        yield str(folder)


def _build(source: str, folder: Path) -> None:
    build_catalog(source, folder)
