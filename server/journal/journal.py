"""The journal of one worker: writes what episodes do before anybody is told, and reads what other workers wrote.

An episode is a function of its spec, its actions and what was said, so its actions in order *are* the episode. The
number of an action is unique in its episode: of two workers that play the same episode at once, the slower one finds
its number taken (:class:`OvertakenError`), plays what the other has written, and goes on from there. So no action is
lost or applied twice, whoever plays.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from ecom_rlve.envs.curriculum.ledger import Outcome
from ecom_rlve.server.admission.errors import AccountFullError
from ecom_rlve.server.encoding import metadata_in_run
from ecom_rlve.server.episodes.record import Record
from ecom_rlve.server.errors import CapacityError, EpisodeExistsError, UnknownSessionError
from ecom_rlve.server.journal.entries import Line, Stored
from ecom_rlve.server.journal.errors import BegunBeforeError, OvertakenError
from ecom_rlve.server.journal.opening import Opened
from ecom_rlve.server.journal.rows import JournalRows
from ecom_rlve.server.journal.session_rows import Held, SessionRows
from ecom_rlve.server.journal.upkeep import (
    Limits,
    Survey,
    close_session,
    expire,
    expire_sessions,
    give_up,
    give_up_here,
    look_around,
    own,
    played_in,
    retain,
)
from ecom_rlve.server.journal.writer import Writer
from ecom_rlve.server.runs.runs import Assignment, Begun, Entry, Runs
from ecom_rlve.server.sessions import NO_SESSION, TAKEN
from ecom_rlve.server.store.database import Database
from ecom_rlve.server.store.errors import StoreUnavailableError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ending:
    """How an episode has ended."""

    entry: Entry | None
    """What a curriculum waits for; None if none does."""
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class Beginning:
    """An episode that begins."""

    new: Stored
    assignment: Assignment
    replaced: int | None
    """Row of the live episode that it takes the place of."""
    is_on_socket: bool
    most: int | None
    """How many live episodes its account may have."""
    session_id: str | None
    """The session that plays it."""


_GATHERS_S = 0.004
"""Seconds for which steps are gathered where a transaction goes to another machine and back twice."""


class Journal:
    """Belongs to one event loop."""

    def __init__(
        self,
        opened: Opened,
        runs: Callable[[Database], Runs],
        now: Callable[[], float],
        limits: Limits,
        *,
        is_shared: bool,
    ) -> None:
        """Write to an open store; ``runs`` returns the runs over a connection, ``now`` is a monotonic clock."""
        self._now = now
        self._limits = limits
        self._database = Database.beside(opened.database)
        self._rows = JournalRows(self._database, opened.stamp, opened.worker)
        self._runs = runs(self._database)
        self._reading = JournalRows(opened.database, opened.stamp, opened.worker)
        self._sessions, self._known_sessions = SessionRows(self._database), SessionRows(opened.database)
        self._writer = Writer(self._database, _GATHERS_S if self._database.is_replica else 0.0)
        self._leaving: set[int] = set()
        """Rows of episodes that are being given up, or will be once the store can be written again."""
        self._closing: set[str] = set()
        """The same of sessions."""
        self._always_shared = is_shared
        self.is_shared = is_shared
        """Others may play the same episodes now."""

    def is_asked_first(self, record: Record) -> bool:
        """Whether to look, before a step, what others have played: it is cheap, or this copy says that all is over.

        Else the step is taken at once. If somebody was faster, its number is taken, and it is taken again.
        """
        return self.is_shared and (record.episode.done or not self._database.is_replica)

    @property
    def waiting(self) -> int:
        """Things that are handed over and not yet written."""
        return self._writer.waiting

    async def begin(self, asked: Beginning) -> tuple[int, str, Begun]:
        """Write down an episode that begins, and give up the one that it replaces, at once or not at all.

        Return its row, its metadata in its run, and how it stands there.

        Raises:
            UnknownSessionError: that was closed meanwhile.
            BegunBeforeError: the same reset has begun it before.
            EpisodeExistsError: a live episode has its id.
            CapacityError, AccountFullError: the workers together have no place left.
            UnknownRunError, GroupTakenError: see :meth:`Runs.begin`.
            StoreUnavailableError: it cannot be written.
        """
        return await self._writer.run(partial(self._begin, asked))

    async def append(self, row: int, line: Line, ending: Ending | None) -> None:
        """Write an episode's next action down; ``ending`` where it is the last.

        Raises:
            OvertakenError: another worker has written one of its number, or the episode does not live any more.
            StoreUnavailableError: it cannot be written.
        """
        if ending is None:
            is_written = await self._writer.run(partial(self._append, row, line), is_single=True)
        else:
            is_written = await self._writer.run(partial(self._append_last, row, line, ending))
        if not is_written:
            raise OvertakenError

    async def own(self, row: int, session_id: str | None) -> None:
        """Note that an episode lives in a session from now on, or on a socket of this worker, and nowhere else.

        Raises:
            UnknownSessionError: the session was closed meanwhile.
            StoreUnavailableError: it cannot be written.
        """
        await self._writer.run(partial(own, self._rows, self._sessions, self._runs, row, session_id))

    async def connect(self, sockets: int) -> None:
        """Note how many places sockets take here.

        Raises:
            CapacityError: the workers together have fewer places.
            StoreUnavailableError: it cannot be written.
        """
        await self._writer.run(partial(self._connect, sockets))

    async def administer(self, change: Callable[[Runs], T]) -> T:
        """Carry out what reads or changes runs, all of it or nothing; return and raise what that does.

        Raises:
            StoreUnavailableError: the store cannot be written.
        """
        return await self._writer.run(partial(change, self._runs))

    async def leave(self, row: int) -> None:
        """Give an episode up, or forget an ended one; raises ``StoreUnavailableError``."""
        await self._writer.run(partial(self._leave, row))

    def leave_soon(self, row: int) -> None:
        """Give an episode up without waiting for it: this worker finds it no more, others in a moment.

        While the store cannot be written it is tried again by each :meth:`tend`.
        """
        self._leaving.add(row)
        self._writer.put(partial(give_up_here, self._rows, self._runs, row))

    async def damage(self, stored: Stored, entry: Entry | None) -> None:
        """Note that an episode cannot be played again, through no fault of the policy."""
        await self._writer.run(partial(self._damage, stored, entry))

    async def open_session(
        self, session_id: str, account: str | None, client: str | None, most: int | None, sockets: int
    ) -> None:
        """Write a session down that takes a place; ``most`` is how many its account may have, ``sockets`` how many
        sockets take here.

        Raises:
            CapacityError, AccountFullError: none is left.
            StoreUnavailableError: it cannot be written.
        """
        await self._writer.run(partial(self._open_session, session_id, account, client, most, sockets))

    async def close_session(self, session_id: str) -> None:
        """Close a session, and give its live episode up; raises ``StoreUnavailableError``."""
        await self._writer.run(partial(self._close_session, session_id))

    def close_session_soon(self, session_id: str) -> None:
        """Close a session that nobody knows, without waiting for it; tried again as in :meth:`leave_soon`."""
        self._closing.add(session_id)
        self._writer.put(partial(self._close_session, session_id))

    def session(self, session_id: str) -> Held | None:
        """Return the session of this id."""
        return self._known_sessions.find(session_id)

    def is_elsewhere(self, row: int) -> bool:
        """Tell whether an episode lives on a socket of another worker."""
        return self.is_shared and self._reading.is_elsewhere(row)

    def find(self, episode_id: str) -> Stored | None:
        """Return the episode of this id."""
        return self._kept(self._reading.find(episode_id))

    def with_reset_id(self, reset_id: str) -> Stored | None:
        """Return the episode that a reset with this request id made."""
        return self._kept(self._reading.with_reset_id(reset_id))

    def head(self, row: int) -> int | None:
        """Return how many actions an episode has taken; None where it is not there any more."""
        return None if row in self._leaving else self._reading.head(row)

    def lines(self, row: int, after: int = 0) -> list[Line]:
        """Return an episode's actions after the first ``after`` ones."""
        return self._reading.lines(row, after)

    def live_of(self, run: str) -> list[Stored]:
        """Return a run's live episodes, oldest first."""
        return [each for each in self._reading.live_of(run) if each.row not in self._leaving]

    async def leave_all_of(self, run: str) -> set[int]:
        """Give all live episodes of a run up at once; return their rows. Raises ``StoreUnavailableError``."""
        return await self._writer.run(partial(self._leave_all_of, run))

    def places(self) -> int:
        """Return how many places sessions take, and live episodes that no living socket holds."""
        return len(self._reading.on_no_socket()) + self._known_sessions.count()

    async def tend(
        self, used: Mapping[int, float], beats: Sequence[str], sockets: int, sessions: Mapping[str, float]
    ) -> Survey:
        """Tell the other workers that this one lives; expire, remove what is too old, look around.

        ``used`` says when episodes were last used here, by row, ``beats`` which clients have sent heartbeats here, and
        ``sockets`` how many places sockets take here; ``sessions`` says when sessions were last used here, by id.

        Raises:
            StoreUnavailableError: the store cannot be written.
        """
        await self._leave_what_is_left()
        survey = await self._writer.run(partial(self._tend, used, beats, sockets, sessions))
        while await self._writer.run(partial(retain, self._rows, self._limits, time.time())):
            pass
        self.is_shared = self._always_shared or survey.workers > 0
        return survey

    async def _leave_what_is_left(self) -> None:
        leaving, closing = frozenset(self._leaving), frozenset(self._closing)
        if leaving or closing:
            await self._writer.run(partial(self._leave_again, leaving, closing))
            self._leaving -= leaving
            self._closing -= closing

    def close(self) -> None:
        """Write what was handed over, tell the others that this worker stops, and let go."""
        self._writer.close()
        # Without a word from it they notice later.
        with suppress(StoreUnavailableError):
            self._rows.leave()
        self._database.close()

    def _begin(self, asked: Beginning) -> tuple[int, str, Begun]:
        rows, new, replaced, session_id = self._rows, asked.new, asked.replaced, asked.session_id
        if session_id is not None:
            # Another worker may have reset the session a moment ago.
            replaced = played_in(rows, self._sessions, session_id)
        if new.reset_id is not None and rows.with_reset_id(new.reset_id) is not None:
            raise BegunBeforeError
        self._make_way(new, replaced)
        if replaced is not None:
            give_up(rows, self._runs, replaced)
        if session_id is None:
            self._require_own_place(new.account, asked.most)
            if not asked.is_on_socket and self.is_shared:
                self._require_place(1 + rows.others()[1] + self._sockets)
        begun = self._runs.begin(asked.assignment, new.episode_id, discloses_acts=new.options.discloses)
        metadata = metadata_in_run(new.metadata, new.run, asked.assignment.group_id, begun)
        run_row = None if begun.entry is None else begun.entry.run
        stored = replace(new, metadata=metadata, run_row=run_row)
        row = rows.add(stored, is_on_socket=asked.is_on_socket and session_id is None, now=self._now())
        if session_id is not None and not self._sessions.play(session_id, row):
            raise UnknownSessionError(NO_SESSION)
        return row, metadata, begun

    def _kept(self, stored: Stored | None) -> Stored | None:
        return None if stored is None or stored.row in self._leaving else stored

    def _open_session(
        self, session_id: str, account: str | None, client: str | None, most: int | None, sockets: int
    ) -> None:
        self._require_own_place(account, most)
        if self.is_shared:
            self._require_place(1 + self._rows.others()[1] + sockets)
        self._sessions.add(session_id, account, client, self._now())

    def _make_way(self, new: Stored, replaced: int | None) -> None:
        """Forget the ended episode that has the id of a new one; raise where it may not be forgotten."""
        namesake = self._rows.find(new.episode_id)
        if namesake is None:
            return
        if namesake.is_live and (replaced is None or replaced != namesake.row):
            raise EpisodeExistsError("a live episode has this id; end it, delete it, or choose another id")
        if new.account is not None and namesake.account not in (None, new.account):
            raise EpisodeExistsError(TAKEN)
        if not namesake.is_live:
            self._rows.remove(namesake.row)

    def _held(self, account: str) -> int:
        """Return how many places an account's episodes and sessions take."""
        return self._rows.held(account) + self._sessions.held(account)

    def _close_session(self, session_id: str) -> None:
        held = self._sessions.find(session_id)
        if held is not None:
            close_session(self._rows, self._sessions, self._runs, session_id, held.row)

    def _leave(self, row: int) -> None:
        give_up(self._rows, self._runs, row)

    def _leave_again(self, leaving: frozenset[int], closing: frozenset[str]) -> None:
        for row in sorted(leaving):
            give_up_here(self._rows, self._runs, row)
        for session_id in sorted(closing):
            self._close_session(session_id)

    def _leave_all_of(self, run: str) -> set[int]:
        rows = {each.row for each in self._rows.live_of(run)}
        for row in rows:
            give_up(self._rows, self._runs, row)
        return rows

    def _damage(self, stored: Stored, entry: Entry | None) -> None:
        if entry is not None:
            self._runs.end(entry, None)
        self._rows.damage(stored.row, time.time())

    _sockets = 0

    def _append(self, row: int, line: Line) -> bool:
        return self._rows.append(row, line, self._now())

    def _append_last(self, row: int, line: Line, ending: Ending) -> bool:
        if not self._rows.append(row, line, self._now()):
            return False
        self._rows.end(row, time.time())
        if ending.entry is not None:
            self._runs.end(ending.entry, ending.outcome)
        return True

    def _connect(self, sockets: int) -> None:
        self._require_place(sockets + self._rows.others()[1])
        self._rows.seen(self._now(), sockets)
        self._sockets = sockets

    def _require_own_place(self, account: str | None, most: int | None) -> None:
        """Raise ``AccountFullError`` where an account has as many places as it may have."""
        if most is not None and account is not None and self._held(account) >= most:
            raise AccountFullError(f"all {most} places of this token are taken; end an episode first")

    def _require_place(self, more: int) -> None:
        taken = more + len(self._rows.on_no_socket()) + self._sessions.count()
        if taken > self._limits.places:
            raise CapacityError(taken - 1, self._limits.places)

    def _tend(
        self,
        used: Mapping[int, float],
        beats: Sequence[str],
        sockets: int,
        sessions: Mapping[str, float],
    ) -> Survey:
        now = self._now()
        self._sockets = sockets
        self._rows.seen(now, sockets)
        self._rows.touch(used)
        self._rows.keep(beats, now)
        self._sessions.touch(sessions)
        self._sessions.keep(beats, now)
        expired = expire_sessions(self._rows, self._sessions, self._runs, now, self._limits)
        expired += expire(self._rows, self._runs, now, self._limits)
        return look_around(self._rows, self._sessions, expired)
