"""What transactions change, as text that another server carries out: statements with their values, in order.

A store on several machines is the same on each of them because each carries out the same statements in the same order
(state machine replication). So a statement may use nothing that differs between machines: no clock, no randomness.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Change = tuple[str, Sequence[Any]]
"""A statement and its values."""
_READING = ("SELECT", "PRAGMA", "BEGIN", "COMMIT", "ROLLBACK")
_ALLOWED = ("INSERT ", "UPDATE ", "DELETE ", "SAVEPOINT ", "RELEASE ", "ROLLBACK TO ")
"""What a statement of another server may begin with: no file is opened, no table made, no setting changed.

SQLite's own authoriser would say the same, but forgets every statement that it has prepared each time it is set.
"""


class ForeignStatementError(sqlite3.DatabaseError):
    """Another server asks for what no server of ours does."""


@dataclass(frozen=True, slots=True)
class Head:
    """The latest transaction of a log: its number, from 1, and a tag that no other one has. 0 is an empty log."""

    position: int = 0
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One transaction of a log."""

    head: Head
    previous: str
    """Tag of the one before it: a store that knows another one there has gone another way."""
    changes: bytes


class ChangeLog(Protocol):
    """The order of all transactions on a store, kept where every server reaches it. Safe to use from several threads.

    Every method raises ``StoreUnavailableError`` if it cannot be reached.
    """

    def head(self) -> Head:
        """Return the latest transaction."""

    def after(self, position: int) -> list[Entry]:
        """Return the next transactions, in order: some, or all of them."""

    def take(self, token: str, position: int) -> tuple[Head, list[Entry]]:
        """Wait for the right to append and take it under a token.

        Return the latest transaction, and those after ``position``, in order: some, or all of them.
        """

    def append(self, token: str, entry: Entry) -> None:
        """Append a transaction and give the right back; raises where another one stands in its place."""

    def give_back(self, token: str) -> None:
        """Give the right back, if it is still held."""

    def snapshot(self) -> bytes | None:
        """Return the newest image of the store; None where there is none yet."""

    def keep_snapshot(self, head: Head, image: bytes) -> None:
        """Keep an image of the store as it was after ``head``, and forget what happened long before."""

    @property
    def wants_snapshot(self) -> bool:
        """Whether so much has happened since the last image that another one is due."""

    def seconds(self) -> float:
        """Return the time by a clock that all servers share and that does not jump while one runs."""


def is_change(statement: str) -> bool:
    """Tell whether a statement changes the store, or sets a mark within a transaction.

    >>> [is_change(each) for each in ("SELECT 1", "INSERT INTO runs …", "ROLLBACK TO job", "ROLLBACK")]
    [False, True, True, False]
    """
    return not statement.startswith(_READING) or statement.startswith("ROLLBACK TO")


def encode(changes: Sequence[Change]) -> bytes:
    """Return changes as bytes."""
    text = json.dumps([[statement, list(map(_plain, values))] for statement, values in changes])
    # The same few statements come again and again.
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def decode(encoded: bytes) -> list[Change]:
    """Return the changes that :func:`encode` was given; raises ValueError for anything else."""
    try:
        found = json.loads(zlib.decompress(encoded).decode("utf-8", "surrogatepass"))
        return [(str(statement), tuple(map(_whole, values))) for statement, values in found]
    except (zlib.error, ValueError, TypeError, KeyError) as error:
        raise ValueError(f"no changes of a store: {error}") from error


def carry_out(connection: sqlite3.Connection, changes: Sequence[Change]) -> None:
    """Carry out what another server has.

    Raises:
        ForeignStatementError: a statement does more than it may.
    """
    for statement, values in changes:
        if not statement.startswith(_ALLOWED):
            raise ForeignStatementError(statement[:40])
        connection.execute(statement, values).fetchall()


def _plain(value: Any) -> Any:
    return {"bytes": b64encode(value).decode()} if isinstance(value, bytes) else value


def _whole(value: Any) -> Any:
    return b64decode(value["bytes"]) if isinstance(value, dict) else value
