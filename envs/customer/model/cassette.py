"""The record of what a model said: one SQLite file, which can be played back without the model.

A recording holds what was *said* under a key. If the template was said in the end, it holds the template. So a replayed
run equals the recorded run byte for byte, including its failures. The first recording of a key is never replaced.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ecom_rlve.envs.customer.model.errors import CassetteFileError

_APPLICATION = 0x45524C56
"""SQLite's application id: marks the file as a cassette ("ERLV")."""
_VERSION = 1
_TABLE = "CREATE TABLE recordings (key TEXT PRIMARY KEY, text TEXT NOT NULL, outcome TEXT NOT NULL) WITHOUT ROWID"
_BUSY_S = 30.0

T = TypeVar("T")


class CassetteMode(StrEnum):
    """What a cassette is used for."""

    OFF = "off"
    RECORD = "record"
    """Recorded words are said again; others are requested from the model and recorded."""
    REPLAY = "replay"
    """Recorded words are said again; for others the template speaks."""
    REPLAY_OR_FAIL = "replay-or-fail"
    """Recorded words are said again; others are an error."""

    @property
    def is_replay(self) -> bool:
        """Whether the model is never asked."""
        return self in (CassetteMode.REPLAY, CassetteMode.REPLAY_OR_FAIL)


class Recording(NamedTuple):
    """What was said under a key."""

    text: str
    outcome: str
    """How it came about: an ``Outcome``, or ``understood`` for the topics of a question."""


def key_of(content: Mapping[str, Any]) -> str:
    """Return the key of a request: 32 hex digits, a hash of its content as canonical JSON."""
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=16).hexdigest()


class Cassette:
    """A file of recordings. All access to the file happens in one thread of its own."""

    def __init__(self, path: Path, mode: CassetteMode) -> None:
        """Open the file; create it if ``mode`` records.

        Raises :class:`CassetteFileError` if it is missing, damaged, or no cassette.
        """
        self.path = path
        self.mode = mode
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="cassette")
        try:
            self._database = self._thread.submit(_opened, path, mode).result()
        except CassetteFileError:
            self._thread.shutdown()
            raise

    async def find(self, key: str) -> Recording | None:
        """Return the recording of a key, None if there is none; raises :class:`CassetteFileError` for a broken file."""
        return await self._later(self._find, key)

    async def keep(self, key: str, recording: Recording) -> Recording:
        """Record, unless the key has a recording already; return the recording that is kept."""
        return await self._later(self._keep, key, recording)

    def dump(self) -> Iterator[str]:
        """Yield the recordings as JSON lines, ordered by key."""
        rows = self._now(lambda: self._database.execute("SELECT * FROM recordings ORDER BY key").fetchall())
        for key, text, outcome in rows:
            yield json.dumps({"key": key, "text": text, "outcome": outcome}, ensure_ascii=False) + "\n"

    def load(self, lines: Iterable[str]) -> int:
        """Record the lines of a :meth:`dump`, and return how many recordings were new.

        Raises :class:`CassetteFileError` if a line is no recording or contradicts one; then nothing is recorded.
        """
        rows = [_row(number, line) for number, line in enumerate(lines, 1) if line.strip()]
        return self._now(lambda: self._load(rows))

    def close(self) -> None:
        """Write everything into the one file and close it."""
        self._now(self._database.close)
        self._thread.shutdown()

    def _now(self, work: Callable[[], T]) -> T:
        return self._thread.submit(_translated, self.path, work).result()

    async def _later(self, work: Callable[..., T], *args: Any) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, _translated, self.path, lambda: work(*args))

    def _find(self, key: str) -> Recording | None:
        row = self._database.execute("SELECT text, outcome FROM recordings WHERE key = ?", (key,)).fetchone()
        return Recording(*row) if row else None

    def _keep(self, key: str, recording: Recording) -> Recording:
        with self._database:
            self._database.execute("INSERT OR IGNORE INTO recordings VALUES (?, ?, ?)", (key, *recording))
        return self._find(key) or recording

    def _load(self, rows: list[tuple[str, str, str]]) -> int:
        with self._database:
            added = 0
            for key, *recording in rows:
                made = self._database.execute("INSERT OR IGNORE INTO recordings VALUES (?, ?, ?)", (key, *recording))
                added += made.rowcount
                if not made.rowcount and self._find(key) != tuple(recording):
                    raise CassetteFileError(f"{self.path} has another recording under the key {key}")
        return added


def _row(number: int, line: str) -> tuple[str, str, str]:
    try:
        entry = json.loads(line)
        row = (entry["key"], entry["text"], entry["outcome"])
        if len(entry) != 3 or not all(isinstance(value, str) for value in row):
            raise TypeError
    except (ValueError, KeyError, TypeError):
        raise CassetteFileError(f"line {number} is no recording: {line[:80]!r}") from None
    return row


def _translated(path: Path, work: Callable[[], T]) -> T:
    try:
        return work()
    except sqlite3.Error as error:
        raise CassetteFileError(f"{path} cannot be used: {error}") from None


def _opened(path: Path, mode: CassetteMode) -> sqlite3.Connection:
    if mode.is_replay and not path.is_file():
        raise CassetteFileError(f"there is no cassette {path}; record one first")
    try:
        database = sqlite3.connect(path, timeout=_BUSY_S, check_same_thread=False)
    except sqlite3.Error as error:
        raise CassetteFileError(f"{path} cannot be opened: {error}") from None
    try:
        _require_cassette(path, database, may_make=not mode.is_replay)
    except sqlite3.Error as error:
        database.close()
        raise CassetteFileError(f"{path} is damaged, or no cassette: {error}") from None
    except CassetteFileError:
        database.close()
        raise
    return database


def _require_cassette(path: Path, database: sqlite3.Connection, *, may_make: bool) -> None:
    """Create the table in an empty file; otherwise require that the file is a sound cassette of this version."""
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    if not tables and may_make:
        database.execute("PRAGMA journal_mode = WAL")
        with database:
            database.execute("BEGIN IMMEDIATE")
            database.execute(_TABLE.replace("TABLE", "TABLE IF NOT EXISTS"))
            database.execute(f"PRAGMA application_id = {_APPLICATION}")
            database.execute(f"PRAGMA user_version = {_VERSION}")
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION or version != _VERSION:
        raise CassetteFileError(f"{path} is no cassette of version {_VERSION}")
    (soundness,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if soundness != "ok":
        raise CassetteFileError(f"{path} is damaged: {soundness}")
    database.execute("PRAGMA synchronous = NORMAL")
