"""Whether a server can do its work now: what a balancer asks before it sends anybody."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.operations.drain import Drain
from ecom_rlve.server.store.database import Database
from ecom_rlve.server.store.errors import StoreUnavailableError
from ecom_rlve.server.voices import Speaking

Check = Callable[[], str | None]
"""Returns what is wrong, None if nothing is. It may wait for a disk, so it runs in a thread."""
LEAST_FREE_BYTES = 32 << 20
"""With less room than this on its disk, a store counts as full: what is being written now still fits."""


def missing(checks: Mapping[str, Check]) -> dict[str, str]:
    """Return what is wrong, by the name of the check; empty if the server is ready."""
    found = {}
    for name, check in checks.items():
        try:
            wrong = check()
        except Exception as error:
            # Its message may name a path.
            wrong = f"cannot be used: {type(error).__name__}"
        if wrong is not None:
            found[name] = wrong
    return found


def drain_check(drain: Drain) -> Check:
    """Return the check that a server is not about to stop."""
    return lambda: "the server is about to stop" if drain.has_begun else None


def model_check(speaking: Speaking, fallback: str | None) -> Check:
    """Return the check of the customer's model: it answers, where no template may speak in its place."""

    def check() -> str | None:
        return "it does not answer" if fallback == "none" and speaking.is_resting else None

    return check


def answer_text(found: Mapping[str, str]) -> str:
    """Return the body of the answer."""
    told = [{"part": name, "reason": reason} for name, reason in found.items()]
    return json.dumps({"status": "not_ready", "missing": told} if told else {"status": "ready"})


def catalog_check(shop: Shop) -> Check:
    """Return the check of a catalog: its first and last product can be read."""

    def check() -> str | None:
        ends = (0, shop.catalog.size - 1)
        return None if all(shop.catalog.titles[row] for row in ends) else "a product has no title"

    return check


def store_check(database: Database, path: Path | None) -> Check:
    """Return the check of a store: its file can be written, and its disk has room."""

    def check() -> str | None:
        try:
            database.check()
        except StoreUnavailableError as error:
            return str(error)
        if path is None:
            return None
        free = os.statvfs(path.parent)
        room = free.f_bavail * free.f_frsize
        return None if room >= LEAST_FREE_BYTES else f"its disk has {room >> 20} MiB left"

    return check
