"""The rows of JSON-RPC sessions. Every change belongs to the transaction that is open, if one is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ecom_rlve.server.store.database import Database


class Held(NamedTuple):
    """A session as the store has it."""

    session_id: str
    account: str | None
    """Whose it is; None on a server that is open to all."""
    client: str | None
    """The client that made it, whose heartbeats keep it; None if that did not name itself."""
    episode_id: str | None
    """The episode that it plays, or has played last; None without one."""
    row: int | None
    """Where the journal has that."""


class SessionRows:
    """The sessions over one connection."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, session_id: str) -> Held | None:
        """Return the session of this id."""
        found = self._database.row(
            "SELECT sessions.id, sessions.account, sessions.client, episode_id, played.id FROM sessions "
            "LEFT JOIN played ON played.id = sessions.episode WHERE sessions.id = ?",
            (session_id,),
        )
        return None if found is None else Held(*found)

    def add(self, session_id: str, account: str | None, client: str | None, now: float) -> None:
        """Write a session down that begins."""
        self._database.row(
            "INSERT INTO sessions (id, account, client, used_at) VALUES (?, ?, ?, ?)",
            (session_id, account, client, now),
        )

    def play(self, session_id: str, row: int) -> bool:
        """Note which episode a session plays, none where that has gone; False where the session is gone."""
        statement = "UPDATE sessions SET episode = (SELECT id FROM played WHERE id = ?) WHERE id = ?"
        return bool(self._database.change(statement, (row, session_id)))

    def part(self, row: int) -> None:
        """Note that no session plays an episode."""
        self._database.row("UPDATE sessions SET episode = NULL WHERE episode = ?", (row,))

    def remove(self, session_id: str) -> None:
        """Remove a session; what becomes of its episode is for others to say."""
        self._database.row("DELETE FROM sessions WHERE id = ?", (session_id,))

    def touch(self, used_at: Mapping[str, float]) -> None:
        """Note when sessions were last used, by id; an earlier time than is known changes nothing."""
        for session_id, moment in used_at.items():
            self._database.row("UPDATE sessions SET used_at = max(used_at, ?) WHERE id = ?", (moment, session_id))

    def keep(self, clients: Iterable[str], now: float) -> None:
        """Note that clients have sent heartbeats."""
        for client in clients:
            self._database.row("UPDATE sessions SET heard_at = ? WHERE client = ?", (now, client))

    def ids(self) -> set[str]:
        """Return the ids of all sessions: each takes a place."""
        return {session_id for (session_id,) in self._database.rows("SELECT id FROM sessions")}

    def count(self) -> int:
        """Return how many there are."""
        (found,) = self._database.row("SELECT count(*) FROM sessions")
        return int(found)

    def held(self, account: str) -> int:
        """Return how many sessions an account has."""
        (found,) = self._database.row("SELECT count(*) FROM sessions WHERE account = ?", (account,))
        return int(found)

    def overdue(self, used_before: float, heard_before: float, most: int) -> list[tuple[str, int | None]]:
        """Return ids and episodes of sessions that nobody has used since.

        The second time is for those whose clients send heartbeats, and have neither sent one nor used it since.
        """
        return self._database.rows(
            "SELECT id, episode FROM sessions WHERE used_at < ? OR max(used_at, heard_at) < ? ORDER BY used_at LIMIT ?",
            (used_before, heard_before, most),
        )
