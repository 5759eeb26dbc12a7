"""What each worker does for the journal every few seconds: expire, remove what is too old, see who else is there.

Ages of live episodes are differences of a monotonic clock, which all workers of a machine share, so that a wall clock
that jumps expires nothing. When an episode ended is a time of the calendar.
"""

from __future__ import annotations

from dataclasses import dataclass

from ecom_rlve.server.errors import UnknownSessionError
from ecom_rlve.server.journal.entries import entry_of
from ecom_rlve.server.journal.rows import JournalRows
from ecom_rlve.server.journal.session_rows import SessionRows
from ecom_rlve.server.runs.runs import Runs
from ecom_rlve.server.sessions import NO_SESSION

DEAD_AFTER_S = 30.0
"""Seconds after which a worker that said nothing counts as dead: six times as long as between two words of it."""
_BATCH = 200
"""Episodes that are removed in one transaction, about ten milliseconds long."""
_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Limits:
    """What an operator allows."""

    places: int
    """Sockets, and live episodes on none, of all workers together."""
    idle_ttl_s: float
    """Seconds without use after which a live episode on no socket expires."""
    lease_s: float
    """The same for those whose clients send heartbeats."""
    days: float
    """Days that ended episodes are kept."""
    episodes: int
    """Ended episodes that are kept."""
    size: int
    """Bytes of ended episodes that are kept."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What a worker sees when it looks around."""

    expired: int
    """Episodes that have just expired."""
    workers: int
    """Other workers that live."""
    sockets: int
    """Places that their sockets take."""
    live: frozenset[int]
    """Rows of all live episodes."""
    on_no_socket: frozenset[int]
    """Those of them that neither a living socket nor a session holds."""
    sessions: frozenset[str]
    """Ids of all sessions."""


def look_around(rows: JournalRows, sessions: SessionRows, expired: int) -> Survey:
    """Return what there is, after so many episodes have expired."""
    workers, sockets = rows.others()
    live, on_no_socket = frozenset(rows.live()), frozenset(rows.on_no_socket())
    return Survey(expired, workers, sockets, live, on_no_socket, frozenset(sessions.ids()))


def expire(rows: JournalRows, runs: Runs, now: float, limits: Limits) -> int:
    """Give up the live episodes that nobody has used for too long; return how many."""
    rows.forget_workers(now - DEAD_AFTER_S)
    expired = 0
    used_before, heard_before = now - limits.idle_ttl_s, now - limits.lease_s
    for each in rows.overdue(used_before, heard_before, _BATCH):
        is_silent = each.heard_at is not None and max(each.used_at, each.heard_at) < heard_before
        if each.used_at < used_before or is_silent:
            give_up(rows, runs, each.row)
            expired += 1
        else:
            # Actions alone do not touch the row: one write for each step is enough.
            rows.touch({each.row: each.used_at})
    return expired


def expire_sessions(rows: JournalRows, sessions: SessionRows, runs: Runs, now: float, limits: Limits) -> int:
    """Close the sessions that nobody has used for too long, with their live episodes; return how many of these."""
    expired = 0
    for session_id, row in sessions.overdue(now - limits.idle_ttl_s, now - limits.lease_s, _BATCH):
        expired += close_session(rows, sessions, runs, session_id, row)
    return expired


def close_session(rows: JournalRows, sessions: SessionRows, runs: Runs, session_id: str, row: int | None) -> bool:
    """Remove a session, in the transaction that is open; give its episode up where that is live, and tell so."""
    stored = None if row is None else rows.of_row(row)
    sessions.remove(session_id)
    if stored is None or not stored.is_live:
        return False
    give_up(rows, runs, stored.row)
    return True


def give_up(rows: JournalRows, runs: Runs, row: int) -> None:
    """Give a live episode up, or forget an ended one, in the transaction that is open."""
    stored, has_begun = rows.of_row(row), bool(rows.head(row))
    rows.remove(row)
    if stored is not None and stored.is_live and (entry := entry_of(stored)) is not None:
        runs.end(entry, "left" if has_begun else None)


def give_up_here(rows: JournalRows, runs: Runs, row: int) -> None:
    """Give an episode up as :func:`give_up` does, unless a socket of another worker has taken it up."""
    if not rows.is_elsewhere(row):
        give_up(rows, runs, row)


def own(rows: JournalRows, sessions: SessionRows, runs: Runs, row: int, session_id: str | None) -> None:
    """Note that an episode lives in a session, or on a socket of this worker, in the transaction that is open.

    Raises:
        UnknownSessionError: there is no such session.
    """
    sessions.part(row)
    rows.own(row, is_on_socket=session_id is None)
    if session_id is None:
        return
    replaced = played_in(rows, sessions, session_id)
    if not sessions.play(session_id, row):
        raise UnknownSessionError(NO_SESSION)
    if replaced is not None:
        give_up(rows, runs, replaced)


def played_in(rows: JournalRows, sessions: SessionRows, session_id: str) -> int | None:
    """Return the row of a session's live episode; None without one."""
    held = sessions.find(session_id)
    stored = None if held is None or held.row is None else rows.of_row(held.row)
    return stored.row if stored is not None and stored.is_live else None


def retain(rows: JournalRows, limits: Limits, today: float) -> bool:
    """Remove some of the ended episodes that are too old or too many; return whether there may be more of them.

    ``today`` is in seconds since 1970. An episode that seems to have ended later is kept.
    """
    episodes, size = rows.kept()
    candidates = rows.oldest(_BATCH)
    removed = 0
    for row, ended_at, taken in candidates:
        if ended_at >= today - limits.days * _DAY_S and episodes <= limits.episodes and size <= limits.size:
            break
        rows.remove(row)
        episodes, size, removed = episodes - 1, size - taken, removed + 1
    return removed == _BATCH
