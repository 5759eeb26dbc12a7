"""Episodes in memory and in the journal: the one is the other, played again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakValueDictionary

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.run_models import Pins
from ecom_rlve.server.admission import tokens
from ecom_rlve.server.admission.leases import Leases
from ecom_rlve.server.encoding import digest_of_text
from ecom_rlve.server.episodes.record import Connection, Record, StoredAnswer
from ecom_rlve.server.errors import UnknownEpisodeError
from ecom_rlve.server.execution import Execution
from ecom_rlve.server.journal.entries import Line, Options, Stored, entry_of
from ecom_rlve.server.journal.errors import DamagedEpisodeError
from ecom_rlve.server.journal.journal import Beginning, Ending, Journal
from ecom_rlve.server.journal.replaying import begun, play
from ecom_rlve.server.journal.session_rows import Held
from ecom_rlve.server.metrics import Tally
from ecom_rlve.server.runs.pins import difference, read_pins
from ecom_rlve.server.runs.runs import Assignment, Begun, outcome_of
from ecom_rlve.server.sessions import UNKNOWN, Sessions
from ecom_rlve.server.store.errors import StoreUnavailableError

_logger = logging.getLogger(__name__)
_LOST = "the journal of this episode cannot be played again; reset another"


class Playing:
    """The episodes of one worker, over its journal."""

    def __init__(
        self,
        journal: Journal,
        sessions: Sessions,
        leases: Leases,
        shop: Shop,
        pins: Pins,
        execution: Execution,
        tally: Callable[[str, str], Tally],
    ) -> None:
        """``pins`` say what is served, ``execution`` where work runs, ``tally`` returns the figures of environment and
        run.
        """
        self.journal = journal
        self._sessions = sessions
        self._leases = leases
        self._shop = shop
        self._pins = pins
        self._execution = execution
        self._loading: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tended_at = sessions.now()
        self._tally = tally

    def stored(self, episode_id: str) -> Stored:
        """Return an episode as the journal holds it.

        Raises:
            UnknownEpisodeError: it does not, or it cannot be played here.
        """
        stored = self.journal.find(episode_id)
        if stored is None:
            raise UnknownEpisodeError(UNKNOWN)
        if stored.state == "damaged":
            raise UnknownEpisodeError(_LOST)
        if (differs := difference(read_pins(stored.stamp), self._pins)) is not None:
            raise UnknownEpisodeError(f"this episode was played on something else: {differs}")
        return stored

    def known(self, episode_id: str) -> Record | None:
        """Return an episode from memory; None where it is not there, or another one may have its id by now."""
        record = self._sessions.find(episode_id)
        if record is None or record.row is None or not self.journal.is_asked_first(record):
            return record
        if self.journal.head(record.row) is not None:
            return record
        self._sessions.put_out(record)
        return None

    async def found(self, episode_id: str, *, is_in_session: bool = False) -> Record:
        """Return an episode, from memory or played again; ``is_in_session``: that of a session, which has its place.

        Raises:
            UnknownEpisodeError: there is none (any more), or it cannot be played again.
        """
        async with self._loading.setdefault(episode_id, asyncio.Lock()):
            record = self.known(episode_id)
            if record is None:
                record = await self._rebuilt(self.stored(episode_id))
                self._sessions.take_up(record, is_in_session=is_in_session)
            return record

    def require(self, record: Record) -> int:
        """Return how many actions the journal has of an episode.

        Raises:
            UnknownEpisodeError: the episode is not there any more.
        """
        head = None if record.row is None else self.journal.head(record.row)
        if head is None:
            self._sessions.put_out(record)
            raise UnknownEpisodeError("the episode was deleted, replaced or has expired; reset first")
        return head

    async def catch_up(self, record: Record) -> None:
        """Play what other workers have written since; nothing where nobody has.

        Raises:
            UnknownEpisodeError: the episode is not there any more, or cannot be played again.
        """
        head = self.require(record)
        known = len(record.episode.log.steps)
        if head > known and record.row is not None:
            try:
                await self._execution.run(self._play, record, self.journal.lines(record.row, known))
            except Exception:
                # The copy here may be at fault: what the journal holds decides.
                await self.replace(record)
            self._settle(record)

    async def replace(self, record: Record) -> None:
        """Build an episode anew from the journal, in the place of a copy that went another way.

        Raises:
            UnknownEpisodeError: it is not there any more, or cannot be played again.
        """
        try:
            stored = self.stored(record.episode_id)
            if stored.row != record.row:
                raise UnknownEpisodeError("the episode was replaced by another one of its id; reset first")
            again = await self._rebuilt(stored)
        except UnknownEpisodeError:
            self._sessions.put_out(record)
            raise
        record.episode, record.answers, record.loose = again.episode, again.answers, again.loose
        self._settle(record)

    async def begin(
        self,
        record: Record,
        assignment: Assignment,
        options: Options,
        connection: Connection | None,
    ) -> Begun:
        """Write down an episode that begins; raises as :meth:`Journal.begin`."""
        replaced, visitor = None if connection is None else connection.record, tokens.visitor()
        new = Stored(
            row=0,
            episode_id=record.episode_id,
            stamp="",
            run=assignment.run.name,
            run_row=None,
            spec=assignment.spec,
            options=options,
            spoken=record.episode.log.spoken,
            metadata=record.metadata,
            reset_id=record.reset_id,
            reset_digest=None if record.reset_answer is None else record.reset_answer.digest,
            account=record.account,
            client=record.client,
            state="live",
        )
        record.row, record.metadata, begun = await self.journal.begin(
            Beginning(
                new,
                assignment,
                replaced=None if replaced is None or replaced.episode.done else replaced.row,
                is_on_socket=connection is not None,
                most=None if visitor is None else visitor.max_episodes,
                session_id=None if connection is None else connection.kept_as,
            )
        )
        played = None if connection is None else connection.record
        if played is not None and played.row == record.row:
            # Somebody else has asked for it meanwhile, and has it from the journal.
            self._sessions.put_out(played)
        return begun

    async def own(self, record: Record, connection: Connection) -> None:
        """Write down that a socket or a session takes an episode up; raises as :meth:`Journal.own`."""
        if record.row is not None and (connection.is_kept or not record.episode.done):
            await self.journal.own(record.row, connection.kept_as)

    async def append(self, record: Record, request_id: str | None, digest: bytes | None, body: str) -> None:
        """Write an episode's latest step down; raises as :meth:`Journal.append`."""
        if record.row is None:
            return
        line = Line.of(record.episode, request_id, digest, body)
        ending = Ending(record.entry, outcome_of(record.episode)) if record.episode.done else None
        await self.journal.append(record.row, line, ending)

    def is_taken(self, record: Record) -> bool:
        """Tell whether a socket of another worker has taken an episode up, if the store can be read now."""
        # Who leaves the episode looks again when that is written.
        with suppress(StoreUnavailableError):
            return record.row is not None and self.journal.is_elsewhere(record.row)
        return False

    def leave_soon(self, record: Record) -> None:
        """Give an episode up, or forget an ended one, without waiting for the store."""
        if record.row is not None:
            self.journal.leave_soon(record.row)

    async def leave(self, record: Record) -> None:
        """Give an episode up, or forget an ended one.

        Raises:
            UnknownEpisodeError: it is not there any more.
            StoreUnavailableError: the store cannot be written.
        """
        self.require(record)
        if record.row is not None:
            await self.journal.leave(record.row)

    async def tend(self) -> int:
        """Do what each worker does every few seconds; return how many episodes have expired.

        Raises:
            StoreUnavailableError: the store cannot be written now.
        """
        held = self._sessions.held()
        since, now, kept = self._tended_at, self._sessions.now(), self._sessions.kept_sessions()
        sessions = {name: now if each.users else each.used_at for name, each in kept.items()}
        sessions = {name: used_at for name, used_at in sessions.items() if used_at >= since}
        # One that is in use may be about to be written down.
        idle = {name for name, each in kept.items() if not each.users}
        survey = await self.journal.tend(self._used(held), self._leases.heard(), self._sessions.sockets, sessions)
        for record in held:
            if record.row not in survey.live and not record.in_flight and not record.episode.done:
                # Another worker has ended or removed it.
                self._sessions.put_out(record)
        for name in idle - survey.sessions:
            # Another worker has closed it.
            self._drop_session(name)
        here = {record.row for record in self._sessions.held()}
        others = len(survey.sessions - self._sessions.kept_sessions().keys())
        self._sessions.elsewhere = survey.sockets + len(survey.on_no_socket - here) + others
        return survey.expired

    async def session(self, session_id: str) -> Connection | None:
        """Return a session as the journal has it now, with the episode that it plays; None where there is none.

        Where its episode cannot be played again it has none, and plays another one after a reset.
        """
        held = self.journal.session(session_id)
        if held is None:
            self._drop_session(session_id)
            return None
        connection = self._sessions.take_up_session(session_id, held.account, held.client)
        before = connection.record
        if held.row == (None if before is None else before.row):
            return connection
        record = await self._played_by(held)
        if connection.record is not before:
            # A reset of it has come to its end meanwhile.
            return connection
        if record is not None:
            self._sessions.adopt(record, connection)
        elif before is not None:
            self._sessions.put_out(before)
        return connection

    async def _played_by(self, held: Held) -> Record | None:
        """Return the episode of a session; None without one that can be played."""
        if held.episode_id is None:
            return None
        known = self._sessions.find(held.episode_id)
        if known is not None and known.row != held.row:
            # An earlier one of this id.
            self._sessions.put_out(known)
        with suppress(UnknownEpisodeError):
            return await self.found(held.episode_id, is_in_session=True)
        return None

    def _drop_session(self, session_id: str) -> None:
        connection = self._sessions.kept_sessions().get(session_id)
        if connection is not None:
            self._sessions.put_session_out(connection)

    def _used(self, held: list[Record]) -> dict[int, float]:
        """Return when episodes were last used here, by row: those that were since the last time, or are being used."""
        now = self._sessions.now()
        since, self._tended_at = self._tended_at, now
        used = (each for each in held if each.in_flight or each.used_at >= since)
        return {each.row: now if each.in_flight else each.used_at for each in used if each.row is not None}

    async def _rebuilt(self, stored: Stored) -> Record:
        lines, entry = self.journal.lines(stored.row), entry_of(stored)
        try:
            record = await self._execution.run(self._again, stored, lines)
        except Exception as error:
            # Whatever it is, it is this episode's, and the others go on.
            _logger.error("journal episode=%d cannot be played again: %s", stored.row, type(error).__name__)
            await self.journal.damage(stored, entry if stored.is_live else None)
            raise UnknownEpisodeError(_LOST) from error
        if stored.is_live and not record.episode.done:
            record.entry = entry
            record.tally = self._tally(record.env_id, stored.run)
        return record

    def _again(self, stored: Stored, lines: list[Line]) -> Record:
        """Return an episode after these actions; raises whatever playing them does, and ``DamagedEpisodeError``."""
        record = Record(lambda: begun(self._shop, stored))
        record.row, record.metadata, record.run_id = stored.row, stored.metadata, stored.run
        record.account, record.client, record.discloses = stored.account, stored.client, stored.options.discloses
        if stored.spoken:
            record.episode.reword(stored.spoken)
        if stored.reset_id is not None:
            record.reset_id = stored.reset_id
            record.reset_answer = StoredAnswer(stored.reset_digest or b"", record.latest_answer)
        self._play(record, lines)
        # One that was live when it was looked up may have ended since.
        if not stored.is_live and not record.episode.done:
            raise DamagedEpisodeError("its last actions are missing")
        return record

    def _play(self, record: Record, lines: list[Line]) -> None:
        def answered(line: Line) -> None:
            body = record.latest_answer
            if digest_of_text(body) != line.answer:
                raise DamagedEpisodeError(f"action {line.n} is answered in another way than before")
            if line.request_id is not None:
                record.keep_answer(line.request_id, line.digest or b"")
            record.pack(len(body))

        play(record.episode, lines, answered)

    def _settle(self, record: Record) -> None:
        """Leave to the worker that ended an episode what its end is counted for."""
        if record.episode.done:
            record.entry = record.tally = None
            self._sessions.ended(record)
