"""Which socket holds which episode, how many places are taken, and when an episode is forgotten.

Each socket takes a *place* while it is connected, each JSON-RPC session until it is closed or expires, each HTTP
episode from its reset until it ends. Ended episodes take no place. They stay readable until nobody has used them for
the time to live, or until too many of them are kept.
Everything here runs on the event loop and never waits.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ecom_rlve.server.admission import tokens
from ecom_rlve.server.admission.errors import AccountFullError
from ecom_rlve.server.admission.leases import Leases, client
from ecom_rlve.server.episodes.record import Connection, Record
from ecom_rlve.server.errors import CapacityError, EpisodeExistsError, UnknownEpisodeError, UnknownSessionError

UNKNOWN = "no episode has this id: it never existed, expired or was deleted; reset first"
TAKEN = "an episode of another account has this id; choose another id, or leave it to the server"
NO_SESSION = "no session has this id: it never existed, expired or was closed; create one by openenv/session/create"


class Sessions:
    """All episodes and places of one server."""

    def __init__(
        self,
        max_sessions: int,
        max_ended: int,
        idle_ttl_s: float,
        now: Callable[[], float],
        on_gone: Callable[[Record], None] = lambda _: None,
        on_expired: Callable[[], None] = lambda: None,
        leases: Leases | None = None,
        *,
        is_journalled: bool = False,
    ) -> None:
        """``now`` is a monotonic clock in seconds. ``on_gone`` is called with each episode before it is dropped; if it
        raises, the episode stays. ``on_expired`` is called for each episode that nobody used any more. ``leases`` know
        which clients have fallen silent; None = clients send no heartbeats.
        ``is_journalled``: idle episodes are only put out of memory, because the journal, which knows whether another
        worker plays them, says when they expire.
        """
        self._is_journalled = is_journalled
        self.elsewhere = 0
        """Places that other workers' sockets take, and live episodes that only the journal holds."""
        self._on_gone = on_gone
        self._on_expired = on_expired
        self._max_sessions = max_sessions
        self._max_ended = max_ended
        self._idle_ttl_s = idle_ttl_s
        self.now = now
        self._leases = leases or Leases(idle_ttl_s, now)
        self._records: dict[str, Record] = {}
        self._ended: dict[str, Record] = {}
        self._by_reset_id: dict[str, Record] = {}
        self._connections: set[Connection] = set()
        self._by_session_id: dict[str, Connection] = {}
        self._http_live: dict[str, str | None] = {}
        """Whose each is, by its id."""
        self._building: set[str] = set()

    @property
    def active(self) -> int:
        """Places taken."""
        return self.here + self.elsewhere

    @property
    def here(self) -> int:
        """Places that this process' own sockets and episodes take."""
        return len(self._connections) + len(self._http_live)

    @property
    def sockets(self) -> int:
        """Places that sockets take here; with a journal that counts the sessions that are kept without one."""
        return len(self._connections) - (len(self.kept_sessions()) if self._is_journalled else 0)

    def kept_sessions(self) -> dict[str, Connection]:
        """Return the sessions that are kept without a socket and known here, by id."""
        return {name: each for name, each in self._by_session_id.items() if each.is_kept}

    @property
    def readable(self) -> int:
        """Episodes that can be read, live and ended."""
        return len(self._records)

    def connect(self, *, is_kept: bool = False) -> Connection:
        """Take a place for a socket, or for a session that is kept without one.

        Raises:
            CapacityError, AccountFullError: none is left.
        """
        self._require_place()
        connection = Connection(is_kept)
        connection.used_at = self.now()
        self._connections.add(connection)
        return connection

    def disconnect(self, connection: Connection) -> None:
        """Free a connection's place. Its live episode is dropped; an ended one stays readable.

        A live one that cannot be dropped now expires like one over HTTP.
        """
        self._connections.discard(connection)
        if connection.session_id is not None:
            self._by_session_id.pop(connection.session_id, None)
        record, connection.record = connection.record, None
        if record is None:
            return
        record.owner, record.used_at = None, self.now()
        if not record.episode.done:
            self.delete(record)

    def session_id(self, connection: Connection) -> str:
        """Return the id by which JSON-RPC requests name a connection; nobody can guess it."""
        if connection.session_id is None:
            connection.session_id = secrets.token_hex(16)
            self._by_session_id[connection.session_id] = connection
        return connection.session_id

    def by_session_id(self, session_id: str) -> Connection:
        """Return the connection of this id.

        Raises:
            UnknownSessionError: there is none (any more).
        """
        connection = self._by_session_id.get(session_id)
        if connection is not None and self._is_idle(connection):
            self.disconnect(connection)
            connection = None
        if connection is None or not is_own(connection.account):
            raise UnknownSessionError(NO_SESSION)
        return connection

    def take_up_session(self, session_id: str, account: str | None, client: str | None) -> Connection:
        """Know a session that the journal holds; its place was counted already."""
        connection = self._by_session_id.get(session_id)
        if connection is None:
            connection = Connection(True)
            connection.account, connection.client, connection.session_id = account, client, session_id
            connection.used_at = self.now()
            self._connections.add(connection)
            self._by_session_id[session_id] = connection
            self.elsewhere = max(0, self.elsewhere - 1)
        return connection

    def put_session_out(self, connection: Connection) -> None:
        """Put a session out of memory with its episode, and leave what becomes of both to the journal."""
        self._connections.discard(connection)
        if connection.session_id is not None:
            self._by_session_id.pop(connection.session_id, None)
        if connection.record is not None:
            self.put_out(connection.record)

    @contextmanager
    def using(self, connection: Connection) -> Iterator[None]:
        """Keep a connection from expiring inside the block; it counts as used at its end."""
        connection.users += 1
        try:
            yield
        finally:
            connection.users -= 1
            connection.used_at = self.now()

    @contextmanager
    def reserve(self, episode_id: str, connection: Connection | None) -> Iterator[None]:
        """Reserve the id, and over HTTP a place, while an episode is built. :meth:`add` inside the block keeps them.

        Raises:
            UnknownSessionError: the connection was closed.
            EpisodeExistsError: a live episode, not the connection's own, has this id or is about to; or another
                account's has it, live or ended.
            CapacityError, AccountFullError: no place is left (HTTP only: a socket has its place).
        """
        self._require_open(connection)
        known = self._find(episode_id)
        live = known is not None and not known.episode.done and (connection is None or known.owner is not connection)
        if live or episode_id in self._building:
            raise EpisodeExistsError("a live episode has this id; end it, delete it, or choose another id")
        if known is not None and not is_own(known.account):
            raise EpisodeExistsError(TAKEN)
        if connection is None:
            self._require_place()
            self._http_live[episode_id] = tokens.account()
        self._building.add(episode_id)
        try:
            yield
        finally:
            if episode_id in self._building:
                self._building.discard(episode_id)
                self._http_live.pop(episode_id, None)

    def add(self, record: Record, connection: Connection | None) -> None:
        """Make an episode reachable. It replaces the last one of its connection, and an ended one of the same id.

        Raises:
            UnknownSessionError: the connection was closed while the episode was built, which is dropped.
        """
        try:
            self._require_open(connection)
        except UnknownSessionError:
            self._on_gone(record)
            record.gone = True
            raise
        self._building.discard(record.episode_id)
        if connection is not None:
            self._release(connection)
            connection.record = record
            record.owner = connection
        namesake = self._records.get(record.episode_id)
        if namesake is not None:
            self._ended.pop(record.episode_id, None)
            self._forget_reset_id(namesake)
        record.account, record.client = tokens.account(), client()
        record.used_at = self.now()
        self._records[record.episode_id] = record
        if record.reset_id is not None:
            self._by_reset_id[record.reset_id] = record

    def find(self, episode_id: str) -> Record | None:
        """Return the episode of this id, whoever asks; None where it is not in memory."""
        return self._find(episode_id)

    def get(self, episode_id: str) -> Record:
        """Return the episode of this id, whoever asks; raises ``UnknownEpisodeError`` if there is none (any more)."""
        record = self._find(episode_id)
        if record is None:
            raise UnknownEpisodeError(UNKNOWN)
        return record

    def by_reset_id(self, reset_id: str) -> Record | None:
        """Return the episode that a reset with this request id made; None if it is no longer kept."""
        record = self._by_reset_id.get(reset_id)
        return None if record is None else self._find(record.episode_id)

    def adopt(self, record: Record, connection: Connection) -> None:
        """Hand an episode to the socket that repeated its reset (its first socket may be half-open)."""
        if record.owner is connection:
            return
        self._require_open(connection)
        self._release(connection)
        if record.owner is not None:
            record.owner.record = None
        self._http_live.pop(record.episode_id, None)
        record.owner = connection
        connection.record = record

    def touch(self, record: Record) -> None:
        """Note that an episode was used now."""
        record.used_at = self.now()

    def ended(self, record: Record) -> None:
        """Free the place of an ended episode, and forget the oldest ended ones if too many are kept."""
        if record.gone or self._records.get(record.episode_id) is not record:
            return
        self._free_place(record)
        self._ended[record.episode_id] = record
        while len(self._ended) > self._max_ended:
            oldest = self._ended.pop(next(iter(self._ended)))
            del self._records[oldest.episode_id]
            self._forget_reset_id(oldest)

    def delete(self, record: Record) -> None:
        """Forget an episode at once."""
        self._on_gone(record)
        self.put_out(record)

    def take_up(self, record: Record, *, is_in_session: bool = False) -> None:
        """Keep an episode that the journal held; a live one's place was counted already, or is its session's."""
        record.used_at = self.now()
        self._records[record.episode_id] = record
        if record.reset_id is not None:
            self._by_reset_id[record.reset_id] = record
        if record.episode.done:
            self.ended(record)
        elif not is_in_session:
            self._http_live[record.episode_id] = record.account
            self.elsewhere = max(0, self.elsewhere - 1)

    def put_out(self, record: Record) -> None:
        """Put an episode out of memory, and leave what becomes of it to the journal."""
        record.gone = True
        if record.owner is not None:
            record.owner.record = None
            record.owner = None
        if self._records.get(record.episode_id) is record:
            del self._records[record.episode_id]
            self._ended.pop(record.episode_id, None)
            self._free_place(record)
            self._forget_reset_id(record)

    def held(self) -> list[Record]:
        """Return the live episodes that are in memory."""
        return [record for record in self._records.values() if not record.episode.done]

    def live_of(self, run_id: str) -> list[Record]:
        """Return the live episodes of a run, oldest first."""
        self.reap()
        return [record for record in self._records.values() if record.run_id == run_id and not record.episode.done]

    def reap(self) -> int:
        """Forget every expired episode and session; return how many episodes."""
        for connection in [connection for connection in self._connections if self._is_idle(connection)]:
            if self._is_journalled:
                # Another worker may use it; the journal says when it expires.
                self.put_session_out(connection)
                self.elsewhere += 1
            else:
                self.disconnect(connection)
        expired = [record for record in self._records.values() if self._expired(record)]
        for record in expired:
            self._let_go(record)
        return 0 if self._is_journalled else len(expired)

    def _find(self, episode_id: str) -> Record | None:
        record = self._records.get(episode_id)
        if record is not None and self._expired(record):
            self._let_go(record)
            return None
        return record

    def _let_go(self, record: Record) -> None:
        """Drop an idle episode."""
        if not self._is_journalled:
            self.delete(record)
            self._on_expired()
            return
        if not record.episode.done:
            self.elsewhere += 1
        self.put_out(record)

    def _expired(self, record: Record) -> bool:
        idle = record.owner is None and record.in_flight == 0
        return idle and self._is_over(record.used_at, None if record.episode.done else record.client)

    def _is_idle(self, connection: Connection) -> bool:
        idle = connection.is_kept and connection.users == 0
        return idle and self._is_over(connection.used_at, connection.client)

    def _is_over(self, used_at: float, client: str | None) -> bool:
        """Tell whether what was last used then is given up, where ``client`` keeps it."""
        unused = self.now() - used_at
        if unused > self._idle_ttl_s:
            return True
        return unused > self._leases.lease_s and self._leases.is_lost(client)

    def _require_open(self, connection: Connection | None) -> None:
        if connection is not None and connection not in self._connections:
            raise UnknownSessionError(NO_SESSION)

    def _release(self, connection: Connection) -> None:
        """Separate a socket from its episode."""
        record = connection.record
        if record is None:
            return
        if record.episode.done:
            connection.record = None
            record.owner = None
            record.used_at = self.now()
        else:
            self.delete(record)

    def _free_place(self, record: Record) -> None:
        """Free the place of an HTTP episode, unless one of the same id is being built on it."""
        if record.episode_id not in self._building:
            self._http_live.pop(record.episode_id, None)

    def _forget_reset_id(self, record: Record) -> None:
        if record.reset_id is not None and self._by_reset_id.get(record.reset_id) is record:
            del self._by_reset_id[record.reset_id]

    def _require_place(self) -> None:
        if self.active >= self._max_sessions:
            self.reap()
        if self.active >= self._max_sessions:
            raise CapacityError(self.active, self._max_sessions)
        visitor = tokens.visitor()
        if (
            visitor is not None
            and visitor.max_episodes is not None
            and self._held(visitor.name) >= visitor.max_episodes
        ):
            raise AccountFullError(f"all {visitor.max_episodes} places of this token are taken; end an episode first")

    def _held(self, account: str) -> int:
        """Return how many places an account holds."""
        held = [connection.account for connection in self._connections]
        return (held + list(self._http_live.values())).count(account)


def is_own(account: str | None) -> bool:
    """Tell whether what belongs to an account may be used by whoever asks."""
    asking = tokens.account()
    return asking is None or account in (None, asking)
