"""The rows of the journal. Every change belongs to the transaction that is open, if one is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ecom_rlve.server.journal.entries import Line, Options, Stored, spoken_of
from ecom_rlve.server.runs.specs import read_spec, spec_text
from ecom_rlve.server.store.database import Database

_PLAYED = (
    "played.id, episode_id, text, run, run_row, spec, options, metadata, reset_id, reset_digest, account, client, "
    "state FROM played JOIN stamps ON stamps.id = played.stamp"
)
_LINE = "n, action, request_id, digest, answer, more"
_APPEND = (
    f"INSERT OR IGNORE INTO actions (episode, {_LINE}, at) "
    "SELECT id, ?, ?, ?, ?, ?, ?, ? FROM played WHERE id = ? AND state = 'live'"
)
_LINE_BYTES = 120
"""Bytes that an action takes in the file beside its texts, about."""
_ON_NO_SOCKET = (
    "state = 'live' AND (worker IS NULL OR worker NOT IN (SELECT id FROM workers)) "
    "AND NOT EXISTS (SELECT 1 FROM sessions WHERE episode = played.id)"
)
"""Those whose worker has died belong to nobody, until they are taken up or expire. Those of sessions are on their
places."""


class Overdue(NamedTuple):
    """A live episode that may have expired."""

    row: int
    used_at: float
    """When its latest action was written, or something else last used it."""
    heard_at: float | None
    """When its client's latest heartbeat came; None if it sends none."""


class JournalRows:
    """The journal over one connection."""

    def __init__(self, database: Database, stamp: int, worker: int) -> None:
        """``stamp`` is the row of what this server serves, ``worker`` that of this process."""
        self._database = database
        self._stamp = stamp
        self.worker = worker

    def add(self, stored: Stored, *, is_on_socket: bool, now: float) -> int:
        """Write an episode down that begins; return its row."""
        options = stored.options
        written = {**options.build(), "discloses": options.discloses, "spoken": stored.spoken}
        (row,) = self._database.row(
            "INSERT INTO played (episode_id, stamp, run, run_row, spec, options, metadata, reset_id, reset_digest, "
            "account, client, worker, used_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (
                stored.episode_id,
                self._stamp,
                stored.run,
                stored.run_row,
                spec_text(stored.spec),
                json.dumps(written),
                stored.metadata,
                stored.reset_id,
                stored.reset_digest,
                stored.account,
                stored.client,
                self.worker if is_on_socket else None,
                now,
            ),
        )
        return int(row)

    def find(self, episode_id: str) -> Stored | None:
        """Return the episode of this id."""
        return _stored(self._database.row(f"SELECT {_PLAYED} WHERE episode_id = ?", (episode_id,)))

    def with_reset_id(self, reset_id: str) -> Stored | None:
        """Return the episode that a reset with this request id made."""
        return _stored(self._database.row(f"SELECT {_PLAYED} WHERE reset_id = ?", (reset_id,)))

    def of_row(self, row: int) -> Stored | None:
        """Return the episode with this row."""
        return _stored(self._database.row(f"SELECT {_PLAYED} WHERE played.id = ?", (row,)))

    def live_of(self, run: str) -> list[Stored]:
        """Return a run's live episodes, oldest first."""
        statement = f"SELECT {_PLAYED} WHERE run = ? AND state = 'live' ORDER BY played.id"
        return [_told(row) for row in self._database.rows(statement, (run,))]

    def ended(self, after: int, most: int) -> list[Stored]:
        """Return ended episodes whose rows are greater than ``after``, in order, ``most`` at the most."""
        statement = f"SELECT {_PLAYED} WHERE state = 'ended' AND played.id > ? ORDER BY played.id LIMIT ?"
        return [_told(row) for row in self._database.rows(statement, (after, most))]

    def ended_at(self, row: int) -> float | None:
        """Return when an episode ended, in seconds since 1970; None where it lives or is gone."""
        found = self._database.row("SELECT ended_at FROM played WHERE id = ?", (row,))
        return None if found is None else found[0]

    def head(self, row: int) -> int | None:
        """Return how many actions an episode has taken; None where it is not there any more."""
        found = self._database.row(
            "SELECT (SELECT max(n) FROM actions WHERE episode = id) FROM played WHERE id = ? AND state != 'damaged'",
            (row,),
        )
        return None if found is None else int(found[0] or 0)

    def lines(self, row: int, after: int = 0) -> list[Line]:
        """Return an episode's actions after the first ``after`` ones, in order."""
        statement = f"SELECT {_LINE} FROM actions WHERE episode = ? AND n > ? ORDER BY n"
        return [Line(*found) for found in self._database.rows(statement, (row, after))]

    def append(self, row: int, line: Line, now: float) -> bool:
        """Write the next action down; False where there is one of its number, or the episode does not live."""
        return bool(self._database.change(_APPEND, (*line, now, row)))

    def end(self, row: int, ended_at: float) -> None:
        """Note that an episode has ended, at a time of the calendar."""
        self._database.row(
            "UPDATE played SET state = 'ended', worker = NULL, ended_at = ?, size = length(CAST(metadata AS BLOB)) + "
            f"(SELECT total({_LINE_BYTES} + length(CAST(coalesce(action, '') AS BLOB)) + "
            "length(CAST(coalesce(more, '') AS BLOB))) FROM actions WHERE episode = played.id) WHERE id = ?",
            (ended_at, row),
        )

    def damage(self, row: int, ended_at: float) -> None:
        """Note that an episode cannot be played again; it goes with the ended ones in time."""
        self._database.row(
            "UPDATE played SET state = 'damaged', worker = NULL, ended_at = ? WHERE id = ?", (ended_at, row)
        )

    def remove(self, row: int) -> bool:
        """Remove an episode with its actions; return whether it was there."""
        return bool(self._database.change("DELETE FROM played WHERE id = ?", (row,)))

    def is_elsewhere(self, row: int) -> bool:
        """Tell whether an episode lives on a socket of another worker."""
        found = self._database.row(
            "SELECT 1 FROM played WHERE id = ? AND worker != ? AND worker IN (SELECT id FROM workers)",
            (row, self.worker),
        )
        return found is not None

    def own(self, row: int, *, is_on_socket: bool) -> None:
        """Note that an episode lives on a socket of this worker, or on none."""
        self._database.row("UPDATE played SET worker = ? WHERE id = ?", (self.worker if is_on_socket else None, row))

    def touch(self, used_at: Mapping[int, float]) -> None:
        """Note when episodes were last used, by row; an earlier time than is known changes nothing."""
        for row, moment in used_at.items():
            self._database.row("UPDATE played SET used_at = max(used_at, ?) WHERE id = ?", (moment, row))

    def seen(self, now: float, sockets: int) -> None:
        """Note that this worker lives, and how many places its sockets take."""
        self._database.row(
            "INSERT INTO workers (id, seen_at, sockets) VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET seen_at = excluded.seen_at, sockets = excluded.sockets",
            (self.worker, now, sockets),
        )

    def forget_workers(self, seen_before: float) -> None:
        """Forget the workers that have died."""
        self._database.row("DELETE FROM workers WHERE seen_at < ? AND id != ?", (seen_before, self.worker))

    def leave(self) -> None:
        """Note that this worker stops."""
        self._database.row("DELETE FROM workers WHERE id = ?", (self.worker,))

    def others(self) -> tuple[int, int]:
        """Return how many other workers there are, and how many places their sockets take."""
        statement = "SELECT count(*), total(sockets) FROM workers WHERE id != ?"
        workers, sockets = self._database.row(statement, (self.worker,))
        return int(workers), int(sockets)

    def on_no_socket(self) -> list[int]:
        """Return the rows of the live episodes that no living socket holds: each takes a place."""
        return [row for (row,) in self._database.rows(f"SELECT id FROM played WHERE {_ON_NO_SOCKET}")]

    def live(self) -> set[int]:
        """Return the rows of all live episodes."""
        return {row for (row,) in self._database.rows("SELECT id FROM played WHERE state = 'live'")}

    def keep(self, clients: Iterable[str], now: float) -> None:
        """Note that clients have sent heartbeats."""
        for client in clients:
            self._database.row(
                "UPDATE played SET heard_at = ? WHERE client = ? AND state = 'live'",
                (now, client),
            )

    def held(self, account: str) -> int:
        """Return how many live episodes an account has, without those of sessions, which take its sessions' places."""
        (live,) = self._database.row(
            "SELECT count(*) FROM played WHERE account = ? AND state = 'live' "
            "AND NOT EXISTS (SELECT 1 FROM sessions WHERE episode = played.id)",
            (account,),
        )
        return int(live)

    def overdue(self, used_before: float, heard_before: float, most: int) -> list[Overdue]:
        """Return live episodes that no socket holds and that seem not to have been used since.

        The second time is for those whose clients send heartbeats, and have neither sent one nor used it since.
        """
        rows = self._database.rows(
            "SELECT id, max(used_at, coalesce((SELECT max(at) FROM actions WHERE episode = played.id), 0)), heard_at "
            f"FROM played WHERE {_ON_NO_SOCKET} AND (used_at < ? OR max(used_at, heard_at) < ?) "
            "ORDER BY used_at LIMIT ?",
            (used_before, heard_before, most),
        )
        return [Overdue(*row) for row in rows]

    def kept(self) -> tuple[int, int]:
        """Return how many ended episodes there are, and how many bytes they take, about."""
        episodes, size = self._database.row("SELECT count(*), total(size) FROM played WHERE state != 'live'")
        return int(episodes), int(size)

    def oldest(self, most: int) -> list[tuple[int, float, int]]:
        """Return row, time of the end and bytes of ended episodes, oldest first."""
        return self._database.rows(
            "SELECT id, ended_at, size FROM played WHERE state != 'live' ORDER BY ended_at LIMIT ?", (most,)
        )


def _stored(row: Any) -> Stored | None:
    return None if row is None else _told(row)


def _told(row: Any) -> Stored:
    number, episode_id, stamp, run, run_row, spec, options, metadata, *rest = row
    shown = json.loads(options)
    return Stored(
        number,
        episode_id,
        stamp,
        run,
        run_row,
        read_spec(spec),
        Options(
            tuple(shown["include"]), shown["disclose"], shown["reveal_goal"], shown["simulator"], shown["discloses"]
        ),
        spoken_of(shown["spoken"]),
        metadata,
        *rest,
    )
