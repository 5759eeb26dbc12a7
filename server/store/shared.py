"""The log of a store that servers on several machines share, where the settings name one."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from ecom_rlve.server.store.changes import ChangeLog
from ecom_rlve.server.store.errors import StoreError


def opened_log(url: str | None) -> ChangeLog | None:
    """Return the log at an address; None without one.

    Raises:
        StoreError: it does not answer, or the extra that it needs is not installed.
    """
    if url is None:
        return None
    if find_spec("redis") is None:
        raise StoreError("a store in Redis needs the extra: pip install 'ecom-rlve[redis]'; or name a file")
    log: ChangeLog = import_module("ecom_rlve.server.store.redis_log").RedisLog(url)
    return log
