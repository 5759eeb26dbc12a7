"""JSON-RPC sessions that are kept without a socket: with a journal any worker knows them by their ids."""

from __future__ import annotations

from ecom_rlve.server.admission import tokens
from ecom_rlve.server.episodes.record import Connection
from ecom_rlve.server.episodes.stepping import Steps
from ecom_rlve.server.errors import UnknownSessionError
from ecom_rlve.server.journal.playing import Playing
from ecom_rlve.server.sessions import NO_SESSION, Sessions, is_own


class RpcSessions:
    """The sessions that this worker is asked for."""

    def __init__(self, sessions: Sessions, playing: Playing | None, steps: Steps) -> None:
        """``playing`` is None without a journal: then sessions are those of this process."""
        self._sessions = sessions
        self._playing = playing
        self._steps = steps

    async def open(self) -> Connection:
        """Open a session.

        Raises:
            CapacityError, AccountFullError: no place is left, of all workers together.
            StoreUnavailableError: it cannot be written.
        """
        connection = self._sessions.connect(is_kept=True)
        session_id = self._sessions.session_id(connection)
        if self._playing is not None:
            visitor, sockets = tokens.visitor(), self._sessions.sockets
            most = None if visitor is None else visitor.max_episodes
            whose = connection.account, connection.client
            try:
                with self._sessions.using(connection):
                    await self._playing.journal.open_session(session_id, *whose, most, sockets)
            except BaseException:
                # Where it was cancelled it may have been written.
                self.give_up(connection)
                raise
        return connection

    async def find(self, session_id: str) -> Connection:
        """Return the session of this id, with the episode that it plays, whichever worker began them.

        Raises:
            UnknownSessionError: there is none (any more).
        """
        found = None if self._playing is None else await self._playing.session(session_id)
        if found is None:
            # That of a socket, which only its own worker knows; without a journal any.
            return self._sessions.by_session_id(session_id)
        if not is_own(found.account):
            raise UnknownSessionError(NO_SESSION)
        return found

    async def refreshed(self, connection: Connection) -> Connection:
        """Return what a socket talks to, as it is now: another worker may have reset a session, or closed it."""
        if self._playing is None or not connection.is_kept or connection.session_id is None:
            return connection
        return await self._playing.session(connection.session_id) or connection

    async def close(self, connection: Connection) -> None:
        """Close a session, and drop its live episode.

        Raises:
            StoreUnavailableError: it cannot be written.
        """
        if self._playing is None or connection.session_id is None:
            self._sessions.disconnect(connection)
            return
        await self._playing.journal.close_session(connection.session_id)
        self._drop(connection)

    def give_up(self, connection: Connection) -> None:
        """Close a session that nobody has been told of, as soon as the store can be written."""
        if self._playing is None or connection.session_id is None:
            self._sessions.disconnect(connection)
            return
        self._playing.journal.close_session_soon(connection.session_id)
        self._drop(connection)

    def _drop(self, connection: Connection) -> None:
        record = connection.record
        if record is not None and not record.episode.done:
            self._steps.forget(record)
        self._sessions.put_session_out(connection)
