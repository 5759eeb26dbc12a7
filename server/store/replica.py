"""A store's file as a copy of what a log of transactions tells: servers on several machines share one store.

A transaction takes the log's lock, carries out what others have appended, does its own work, and appends it before it
is committed here. So all of them happen one after the other everywhere, as on one file. What is read outside of a
transaction is read after a look at the log. A file that has gone another way (the log was lost, or has forgotten what
the file lacks) is built anew from the log's image.
"""

from __future__ import annotations

import secrets
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from ecom_rlve.server.store.changes import Change, ChangeLog, Entry, Head, carry_out, decode, encode, is_change
from ecom_rlve.server.store.errors import StoreUnavailableError

_TABLE = "CREATE TABLE IF NOT EXISTS replica (one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER, tag TEXT)"
_VERSIONS, _ROLLBACK_JOURNAL = slice(18, 20), b"\x01\x01"
"""Bytes of a file's header that say it has a write-ahead log, which an image in memory cannot have."""


class DivergedError(Exception):
    """The file knows something that the log does not, or lacks what the log has forgotten."""


class Replica:
    """One connection to a file that follows a log; calls come from one thread at a time."""

    def __init__(
        self, connection: sqlite3.Connection, log: ChangeLog, make_tables: Callable[[sqlite3.Connection], None]
    ):
        """Follow ``log`` over an open connection; ``make_tables`` sets up an empty file, or an older one.

        Raises:
            StoreUnavailableError: the log cannot be reached.
        """
        self.log = log
        self._connection = connection
        self._make_tables = make_tables
        self._token = ""
        self._seen = Head()
        self._changes: list[Change] = []
        connection.execute(_TABLE)
        connection.execute("INSERT OR IGNORE INTO replica VALUES (1, 0, '')")

    def catch_up(self) -> None:
        """Carry out what others have done. No transaction may be open."""
        try:
            self._catch_up()
        except DivergedError:
            self.build_anew()

    def _catch_up(self) -> None:
        head = self.log.head()
        if head == self._seen:
            return
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._follow(head, self._stands_at(), [])
            self._connection.execute("COMMIT")
        except BaseException:
            self._seen = Head()
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def begin(self) -> None:
        """Take the log's lock and carry out what others have done, in the transaction that was just opened.

        Raises:
            StoreUnavailableError: the log cannot be reached, or others keep the lock.
            DivergedError: the file must be built anew; the lock is given back.
        """
        self._changes = []
        self._token = secrets.token_hex(8)
        at = self._stands_at()
        head, entries = self.log.take(self._token, at.position)
        try:
            self._follow(head, at, entries)
        except BaseException:
            self.give_up()
            raise

    def note(self, statement: str, values: Sequence[Any]) -> None:
        """Note what was done in the transaction."""
        if is_change(statement):
            self._changes.append((statement, values))

    def commit(self) -> None:
        """Append the transaction to the log; it is committed here next.

        Raises:
            StoreUnavailableError: it could not be appended, and must be undone here.
        """
        if not self._changes:
            self.give_up()
            return
        head = Head(self._seen.position + 1, secrets.token_hex(8))
        self.log.append(self._token, Entry(head, self._seen.tag, encode(self._changes)))
        self._token = ""
        self._stand_at(head)

    def give_up(self) -> None:
        """Give the log's lock back, if it is held; the transaction is undone next, or has changed nothing."""
        # What the file has seen is undone too.
        self._seen = Head()
        token, self._token = self._token, ""
        if token:
            # Without a word from us it is free in a few seconds.
            with suppress(StoreUnavailableError):
                self.log.give_back(token)

    def build_anew(self) -> None:
        """Put the log's image in the place of the file's content, and go on from there. What it lacks is lost.

        Raises:
            StoreUnavailableError: the log lacks what follows its image, too.
        """
        image = self.log.snapshot()
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
            if image is not None:
                made.deserialize(zlib.decompress(image))
            # An image that an older version has left gets what it lacks.
            self._make_tables(made)
            Replica(made, self.log, self._make_tables)
            made.backup(self._connection)
        self._seen = Head()
        try:
            self._catch_up()
        except DivergedError as error:
            raise StoreUnavailableError("the store in Redis is incomplete; empty it, or name another one") from error

    def _stands_at(self) -> Head:
        """Return what the file has carried out, also over other connections."""
        position, tag = self._connection.execute("SELECT position, tag FROM replica").fetchone()
        return Head(position, tag)

    def _follow(self, head: Head, at: Head, entries: list[Entry]) -> None:
        """Carry out everything from ``at`` to ``head``, in the transaction that is open.

        ``entries`` are the first of it, if they are known.
        """
        while at != head:
            if not entries and at.position < head.position:
                entries = self.log.after(at.position)
            if not entries:
                raise DivergedError
            for entry in entries:
                if entry.head.position != at.position + 1 or entry.previous != at.tag:
                    raise DivergedError
                carry_out(self._connection, decode(entry.changes))
                at = entry.head
                if at == head:
                    break
            entries = []
        self._stand_at(head)

    def _stand_at(self, head: Head) -> None:
        if head != self._seen:
            self._connection.execute("UPDATE replica SET position = ?, tag = ?", (head.position, head.tag))
            self._seen = head


def keep_snapshot(path: Path, log: ChangeLog) -> None:
    """Give the log an image of the file, if one is due. May run in any thread."""
    if not log.wants_snapshot:
        return
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(":memory:")) as copy:
        source.backup(copy)
        position, tag = copy.execute("SELECT position, tag FROM replica").fetchone()
        image = bytearray(copy.serialize())
    image[_VERSIONS] = _ROLLBACK_JOURNAL
    log.keep_snapshot(Head(position, tag), zlib.compress(bytes(image), 1))
