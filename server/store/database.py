"""The SQLite file: opened by one server or by the workers of one, checked, and changed in whole transactions.

The file is in WAL mode with ``synchronous=NORMAL``: a transaction has reached the system's page cache before its answer
leaves, so it survives the death of the process (SIGKILL too). A power cut or a crash of the machine may lose the last
transactions, those since the latest checkpoint (about a minute), and never leaves half of one.

The write-ahead log is moved into the file by a thread (:meth:`Database.checkpoint`), because that waits for the disk.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Self, TypeVar

from ecom_rlve.server.store.changes import ChangeLog, is_change
from ecom_rlve.server.store.claim import ELSEWHERE, Claim, opening
from ecom_rlve.server.store.errors import StoreError, StoreUnavailableError
from ecom_rlve.server.store.replica import DivergedError, Replica, keep_snapshot
from ecom_rlve.server.store.schema import APPLICATION_ID, TABLES, UPGRADES, VERSION

T = TypeVar("T")
_BUSY_S = 0.5
"""Seconds to wait for a lock of somebody else: another worker, which needs milliseconds, or a tool that reads the file.
Where the event loop waits, nothing is served meanwhile."""
_CHECK_S = 2.0
"""The same for a check, which keeps nobody waiting."""
_STATEMENTS = 256
_BACKSTOP_PAGES = 10_000
"""The log is moved at the latest when it has so many pages (40 MB), should no thread do it."""


class Database:
    """One open store. Calls come from one thread at a time, except for :meth:`checkpoint`."""

    def __init__(
        self,
        path: Path | None,
        *,
        is_shared: bool = False,
        prepare: Callable[[Database, bool], None] | None = None,
        log: ChangeLog | None = None,
    ) -> None:
        """Open the file at ``path``, a new one if there is none; None keeps everything in memory.

        ``is_shared`` lets others that share open it too. ``prepare`` is called once the file is open, before anybody
        else can open it, and told whether nobody has; what it raises, this raises. With a ``log`` the file is a copy of
        what that tells: the servers of several machines share the log, and each has a file of its own.

        Raises:
            StoreError: another server uses it, it is not ours, newer, damaged, or cannot be written.
        """
        self.path = path
        self._depth = 0
        self._replica: Replica | None = None
        self._claim: Claim | None = None
        with nullcontext() if path is None else opening(path):
            if path is not None:
                self._claim = Claim(path, is_shared=is_shared)
            is_first = self._claim is None or self._claim.is_first
            try:
                self._connection = _connected(path, is_first=is_first)
            except BaseException:
                self._release()
                raise
            try:
                if log is not None:
                    self._replica = Replica(self._connection, log, _make_tables)
                    self._replica.catch_up()
                if prepare is not None:
                    prepare(self, is_first)
                if self._claim is not None:
                    self._claim.share()
            except BaseException:
                self.close()
                raise

    @classmethod
    def beside(cls, other: Database) -> Self:
        """Return a second connection to an open file, for another thread; close it before the first."""
        made = cls.__new__(cls)
        made.path, made._depth, made._claim = other.path, 0, None
        made._connection = _connected(other.path, is_first=False)
        made._replica = None if other._replica is None else Replica(made._connection, other._replica.log, _make_tables)
        return made

    @classmethod
    def to_read(cls, path: Path) -> Self:
        """Return a connection to the file at ``path`` for a tool that only reads, whether a server uses it or not.

        Raises:
            StoreError: it is not ours, newer, or damaged.
        """
        made = cls.__new__(cls)
        made.path, made._depth, made._claim, made._replica = path, 0, None, None
        made._connection = _connected(path, is_first=False)
        return made

    @property
    def is_replica(self) -> bool:
        """Whether other machines share the store."""
        return self._replica is not None

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Carry out a statement and return its rows.

        Raises:
            StoreUnavailableError: it failed.
        """
        return self._carried_out(statement, values, sqlite3.Cursor.fetchall)

    def row(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Return the first row of a statement, None without any; raises as :meth:`rows`."""
        return self._carried_out(statement, values, sqlite3.Cursor.fetchone)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make all changes of the block, or none if it raises. A block inside another one belongs to that.

        Raises:
            StoreUnavailableError: the changes cannot be written.
        """
        if self._depth:
            yield
            return
        self._begin()
        self._depth += 1
        try:
            yield
            if self._replica is not None:
                self._replica.commit()
            self._execute("COMMIT")
        except BaseException:
            self._undo()
            raise
        finally:
            self._depth -= 1

    def _begin(self) -> None:
        self._execute("BEGIN IMMEDIATE")
        if self._replica is None:
            return
        try:
            self._replica.begin()
        except DivergedError:
            self._undo()
            self._replica.build_anew()
            self._begin()
        except BaseException:
            self._undo()
            raise

    def _undo(self) -> None:
        if self._replica is not None:
            self._replica.give_up()
        # Some failures, such as a full disk, have rolled back already.
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    @property
    def is_in_transaction(self) -> bool:
        """Whether a transaction is open: some failures, such as a full disk, end it."""
        return self._connection.in_transaction

    def change(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Carry out a statement and return how many rows it changed; raises as :meth:`rows`."""
        return self._carried_out(statement, values, _changed)

    def checkpoint(self) -> None:
        """Move the write-ahead log into the file. May take as long as the disk does, and may run in any thread."""
        if self.path is None:
            return
        try:
            with sqlite3.connect(self.path, timeout=_BUSY_S) as other:
                other.execute("PRAGMA wal_checkpoint(PASSIVE)")
            other.close()
            if self._replica is not None:
                keep_snapshot(self.path, self._replica.log)
        except sqlite3.Error as error:
            raise _unavailable(error) from error

    def _carried_out(self, statement: str, values: Sequence[Any], fetched: Callable[[sqlite3.Cursor], T]) -> T:
        replica = self._replica
        if replica is None:
            return self._execute(statement, values, fetched)
        if not self._depth:
            if is_change(statement):
                with self.transaction():
                    return self._carried_out(statement, values, fetched)
            try:
                replica.catch_up()
            except sqlite3.Error as error:
                raise _unavailable(error) from error
        found = self._execute(statement, values, fetched)
        replica.note(statement, values)
        return found

    def _execute(
        self,
        statement: str,
        values: Sequence[Any] = (),
        fetched: Callable[[sqlite3.Cursor], T] = sqlite3.Cursor.fetchone,
    ) -> T:
        try:
            return fetched(self._connection.execute(statement, values))
        except sqlite3.Error as error:
            raise _unavailable(error) from error

    def check(self) -> None:
        """Find out whether the file can be written: take its lock, and give it back. May run in any thread.

        Raises:
            StoreUnavailableError: it cannot.
        """
        if self.path is None:
            return
        if self._replica is not None:
            self._replica.log.head()
        try:
            # The mode keeps SQLite from making a new file where ours was removed.
            with closing(
                sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=rw", timeout=_CHECK_S, uri=True)
            ) as other:
                other.isolation_level = None
                other.execute("BEGIN IMMEDIATE")
                other.execute(f"PRAGMA user_version = {VERSION}")
                other.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise _unavailable(error) from error

    def close(self) -> None:
        """Close the file and let another server have it."""
        self._connection.close()
        self._release()

    def _release(self) -> None:
        if self._claim is not None:
            self._claim.release()


def _unavailable(error: sqlite3.Error) -> StoreUnavailableError:
    return StoreUnavailableError(f"the store cannot be used now ({error}); nothing was changed, try again later")


def _changed(cursor: sqlite3.Cursor) -> int:
    return cursor.rowcount


def _make_tables(connection: sqlite3.Connection) -> None:
    _prepare(connection, None, is_first=True)


def _connected(path: Path | None, *, is_first: bool) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            path or ":memory:",
            timeout=_BUSY_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENTS,
        )
    except sqlite3.Error as error:
        raise StoreError(f"the store {path} cannot be opened ({error}); {ELSEWHERE}") from error
    try:
        _prepare(connection, path, is_first=is_first)
    except sqlite3.DatabaseError as error:
        connection.close()
        told = " ".join(str(error).split())
        raise StoreError(
            f"the store {path} is damaged, no SQLite file or not writable ({told}); move it away, or {ELSEWHERE}"
        ) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path | None, *, is_first: bool) -> None:
    """Check a file and set it up; a new one gets the tables, an older one those that it lacks."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    is_new = not (application or version or tables)
    if not is_new and application != APPLICATION_ID:
        raise StoreError(f"{path} is a database of another program; {ELSEWHERE}")
    if version > VERSION:
        raise StoreError(
            f"the store {path} was written by a newer version (its tables have version {version}, this server knows "
            f"{VERSION}); upgrade this server, or {ELSEWHERE}"
        )
    if is_first and not is_new:
        (sound,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if sound != "ok":
            raise sqlite3.DatabaseError(sound)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_BACKSTOP_PAGES}")
    if not is_first:
        return
    connection.execute("BEGIN IMMEDIATE")
    if is_new:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for statement in TABLES if is_new else UPGRADES.get(version, ()):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")
