"""Opening a store for a journal: who may share it, and what becomes of the episodes that the last server left."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ecom_rlve.run_models import Pins
from ecom_rlve.server.journal.upkeep import DEAD_AFTER_S
from ecom_rlve.server.runs.pins import difference, read_pins
from ecom_rlve.server.store.changes import ChangeLog
from ecom_rlve.server.store.database import Database
from ecom_rlve.server.store.errors import StoreError
from ecom_rlve.server.store.ledger import forget_live


@dataclass(frozen=True, slots=True)
class Opened:
    """An open store, and who this process is in it."""

    database: Database
    stamp: int
    """The row of what this server serves."""
    worker: int


def open_journal(path: Path, pins: Pins, now: float, log: ChangeLog | None = None) -> Opened:
    """Open the store at ``path`` for a worker of a server that serves what ``pins`` say, at ``now`` of its clock.

    The first worker takes up the episodes that the last server left. Their clock starts anew, however long the server
    was down and whatever the machine's clock did meanwhile. Those that were played on something else are lost. With a
    ``log``, of which ``path`` is a copy, workers on other machines share the store too.

    Raises:
        StoreError: another server uses the store and serves something else; else as ``Database``.
    """
    found: list[tuple[int, int]] = []

    def prepare(database: Database, is_first: bool) -> None:
        with database.transaction():
            if is_first and not (database.is_replica and _has_others(database, now)):
                _take_up(database, pins, now)
            else:
                _require_same(database, path, pins)
            (worker,) = database.row("INSERT INTO workers (seen_at) VALUES (?) RETURNING id", (now,))
            (stamp,) = database.row("SELECT id FROM stamps WHERE is_current")
            found.append((stamp, worker))

    database = Database(path, is_shared=True, prepare=prepare, log=log)
    ((stamp, worker),) = found
    return Opened(database, stamp, worker)


def _take_up(database: Database, pins: Pins, now: float) -> None:
    database.row("UPDATE stamps SET is_current = 0")
    database.row(
        "INSERT INTO stamps (text, is_current) VALUES (?, 1) ON CONFLICT DO UPDATE SET is_current = 1",
        (pins.model_dump_json(),),
    )
    for stamp, text in database.rows("SELECT id, text FROM stamps"):
        if difference(read_pins(text), pins) is not None:
            database.row("DELETE FROM played WHERE stamp = ? AND state = 'live'", (stamp,))
    database.row("DELETE FROM workers")
    database.row("UPDATE played SET worker = NULL, used_at = ? WHERE state = 'live'", (now,))
    database.row("UPDATE sessions SET used_at = ?, heard_at = NULL", (now,))
    forget_live(database)


def _has_others(database: Database, now: float) -> bool:
    """Tell whether workers on other machines may live."""
    return database.row("SELECT 1 FROM workers WHERE seen_at > ?", (now - DEAD_AFTER_S,)) is not None


def _require_same(database: Database, path: Path, pins: Pins) -> None:
    (text,) = database.row("SELECT text FROM stamps WHERE is_current")
    theirs = read_pins(text)
    differs = difference(theirs, pins) or difference(pins, theirs)
    if differs is None and theirs.package != pins.package:
        differs = f"the package had version {theirs.package} and has {pins.package}"
    if differs is not None:
        raise StoreError(
            f"another server uses the store {path} and serves something else ({differs}); stop it, or name another "
            "file by ECOM_RLVE_STORE"
        )
