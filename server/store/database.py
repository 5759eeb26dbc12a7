"""The SQLite file: opened by one server at a time, checked, and changed in whole transactions.

The file is in WAL mode with ``synchronous=NORMAL``: a transaction has reached the system's page cache before its answer
leaves, so it survives the death of the process (SIGKILL too). A power cut or a crash of the machine may lose the last
transactions, those since the latest checkpoint (about a minute), and never leaves half of one.

The write-ahead log is moved into the file by a thread (:meth:`Database.checkpoint`), because that waits for the disk.
"""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

from ecom_rlve.server.store.errors import StoreError, StoreUnavailableError
from ecom_rlve.server.store.schema import APPLICATION_ID, TABLES, VERSION

_BUSY_S = 0.2
"""Seconds to wait for a lock of somebody else, such as a tool that reads the file. Nothing is served meanwhile."""
_CHECK_S = 2.0
"""The same for a check, which keeps nobody waiting."""
_STATEMENTS = 256
_BACKSTOP_PAGES = 10_000
"""The log is moved at the latest when it has so many pages (40 MB), should no thread do it."""
_ELSEWHERE = "name another file by ECOM_RLVE_STORE, or set it to 'memory' to keep nothing"


class Database:
    """One open store. Calls come from one thread at a time, except for :meth:`checkpoint`."""

    def __init__(self, path: Path | None) -> None:
        """Open the file at ``path``, a new one if there is none; None keeps everything in memory.

        Raises:
            StoreError: another server uses it, it is not ours, newer, damaged, or cannot be written.
        """
        self._path = path
        self._lock = None if path is None else _locked(path)
        self._depth = 0
        try:
            self._connection = _connected(path)
        except BaseException:
            self._unlock()
            raise

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Carry out a statement and return its rows.

        Raises:
            StoreUnavailableError: it failed.
        """
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise _unavailable(error) from error

    def row(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Return the first row of a statement, None without any; raises as :meth:`rows`."""
        try:
            return self._connection.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            raise _unavailable(error) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make all changes of the block, or none if it raises. A block inside another one belongs to that.

        Raises:
            StoreUnavailableError: the changes cannot be written.
        """
        if self._depth:
            yield
            return
        self.row("BEGIN IMMEDIATE")
        self._depth += 1
        try:
            yield
            self.row("COMMIT")
        except BaseException:
            # Some failures, such as a full disk, have rolled back already.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._depth -= 1

    def checkpoint(self) -> None:
        """Move the write-ahead log into the file. May take as long as the disk does, and may run in any thread."""
        if self._path is None:
            return
        try:
            with sqlite3.connect(self._path, timeout=_BUSY_S) as other:
                other.execute("PRAGMA wal_checkpoint(PASSIVE)")
            other.close()
        except sqlite3.Error as error:
            raise _unavailable(error) from error

    def check(self) -> None:
        """Find out whether the file can be written: take its lock, and give it back. May run in any thread.

        Raises:
            StoreUnavailableError: it cannot.
        """
        if self._path is None:
            return
        try:
            # The mode keeps SQLite from making a new file where ours was removed.
            with closing(
                sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=rw", timeout=_CHECK_S, uri=True)
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
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()


def _unavailable(error: sqlite3.Error) -> StoreUnavailableError:
    return StoreUnavailableError(f"the store cannot be used now ({error}); nothing was changed, try again later")


def _locked(path: Path) -> IO[str]:
    """Take the lock beside the file. The system releases it when the process ends, however it ends."""
    beside = path.with_name(f"{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = beside.open("a")
    except OSError as error:
        raise StoreError(f"the store {path} cannot be written ({error.strerror}); {_ELSEWHERE}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise StoreError(f"another server uses the store {path}; stop it, or {_ELSEWHERE}") from error
    return lock


def _connected(path: Path | None) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            path or ":memory:",
            timeout=_BUSY_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENTS,
        )
    except sqlite3.Error as error:
        raise StoreError(f"the store {path} cannot be opened ({error}); {_ELSEWHERE}") from error
    try:
        _prepare(connection, path)
    except sqlite3.DatabaseError as error:
        connection.close()
        told = " ".join(str(error).split())
        raise StoreError(
            f"the store {path} is damaged, no SQLite file or not writable ({told}); move it away, or {_ELSEWHERE}"
        ) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path | None) -> None:
    """Check a file and set it up; a new one gets the tables."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    is_new = not (application or version or tables)
    if not is_new and application != APPLICATION_ID:
        raise StoreError(f"{path} is a database of another program; {_ELSEWHERE}")
    if version > VERSION:
        raise StoreError(
            f"the store {path} was written by a newer version (its tables have version {version}, this server knows "
            f"{VERSION}); upgrade this server, or {_ELSEWHERE}"
        )
    if not is_new:
        (sound,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if sound != "ok":
            raise sqlite3.DatabaseError(sound)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_BACKSTOP_PAGES}")
    connection.execute("BEGIN IMMEDIATE")
    if is_new:
        for table in TABLES:
            connection.execute(table)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")
