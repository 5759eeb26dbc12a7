"""Reset, step and state, without HTTP: what every transport calls.

An episode waits under its own lock, and no other does. With a journal, what an episode does is written down before
anybody is told (:mod:`ecom_rlve.server.journal`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

import ecom_rlve
from ecom_rlve.envs.customer.voice import Voice
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.episode.log import FINISH
from ecom_rlve.envs.episode.trace import trace_of
from ecom_rlve.envs.registry import environment, environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import Action, EnvironmentInfo, EpisodeState, Observation, ResetRequest
from ecom_rlve.server.admission import tokens
from ecom_rlve.server.admission.leases import Leases
from ecom_rlve.server.encoding import digest_of
from ecom_rlve.server.episodes.beginning import Resets
from ecom_rlve.server.episodes.record import Connection, Record
from ecom_rlve.server.episodes.rpc_sessions import RpcSessions
from ecom_rlve.server.episodes.stepping import Steps
from ecom_rlve.server.errors import (
    EnvironmentConflictError,
    EpisodeLiveError,
    UnknownEpisodeError,
)
from ecom_rlve.server.execution import Execution, InPlace, Pooled
from ecom_rlve.server.journal.journal import Journal
from ecom_rlve.server.journal.opening import open_journal
from ecom_rlve.server.journal.playing import Playing
from ecom_rlve.server.journal.upkeep import Limits
from ecom_rlve.server.metrics import Metrics
from ecom_rlve.server.openings import Openings
from ecom_rlve.server.operations.drain import Drain
from ecom_rlve.server.operations.notes import note_episode
from ecom_rlve.server.operations.readiness import catalog_check, drain_check, missing, model_check, store_check
from ecom_rlve.server.runs.pins import pins_of
from ecom_rlve.server.runs.runs import Runs
from ecom_rlve.server.sessions import UNKNOWN, Sessions, is_own
from ecom_rlve.server.settings import Settings
from ecom_rlve.server.store.database import Database
from ecom_rlve.server.store.errors import StoreUnavailableError
from ecom_rlve.server.store.ledger import forget_live
from ecom_rlve.server.store.shared import opened_log
from ecom_rlve.server.voices import speaking

T = TypeVar("T")


class Service:
    """The episodes of one server over one shop."""

    def __init__(
        self,
        settings: Settings,
        shop: Shop,
        now: Callable[[], float] = time.monotonic,
        voice: Voice | None = None,
    ) -> None:
        """Serve ``shop``; ``now`` is the clock of the idle expiry, in seconds, ``voice`` as for ``create_app``."""
        self.settings = settings
        self._log = opened_log(settings.store_url)
        if self._log is not None and now is time.monotonic:
            # That of every machine has its own zero.
            now = self._log.seconds
        limits = (settings.max_sessions, settings.max_ended_episodes, settings.idle_ttl_s)
        self.leases = Leases(settings.lease_s, now)
        self.sessions = Sessions(
            *limits,
            now,
            lambda record: self._steps.count_end(record),
            lambda: self.metrics.count_expiries(1),
            self.leases,
            is_journalled=settings.is_journalled,
        )
        self._shop = shop
        is_large = shop.catalog.size > settings.pool_above_products
        self._execution: Execution = InPlace()
        if is_large:
            self._execution = Pooled(settings.pool_threads)
        self._environments: str | None = None
        self.metrics = Metrics(
            lambda: self.sessions.active, lambda: self.sessions.readable, lambda names: self.runs.frontiers(names)
        )
        self.drain = Drain(settings.grace_s)
        self._speaking = speaking(settings, self.metrics, voice)
        self._is_worded = voice is not None or settings.simulator == "model"
        """A model words the customers: two of a step's four stages wait for it. Else these two do nothing."""
        self._waits = self._is_worded or is_large or settings.is_journalled
        """Steps wait for something: a model, a thread, or the journal."""
        ahead = settings.openings_ahead if self._is_worded and not settings.is_replayed else 0
        # Episodes that are being played have the first claim on the model.
        self._openings = Openings(ahead, max(1, settings.model_concurrency // 4), self._prepare)
        self._playing: Playing | None = None
        if settings.is_journalled:
            self._playing = self._journalled(now)
        else:
            # Whatever was live when the last server ended has ended with it.
            self.database = Database(settings.store_path, prepare=lambda database, _: forget_live(database))
            self.runs = Runs(shop, self.database, self._openings.deal)
        self._steps = Steps(
            self.sessions,
            self.metrics,
            self._execution,
            self.runs,
            self._playing,
            self._speaking if self._is_worded else None,
        )
        self.rpc_sessions = RpcSessions(self.sessions, self._playing, self._steps)
        self._resets = Resets(
            settings,
            shop,
            self.sessions,
            self.metrics,
            self._execution,
            self.runs,
            self._playing,
            self._speaking,
            self._steps.report_end,
        )
        self.metrics.tell_build(shop.catalog.fingerprint, shop.catalog.size)
        self.metrics.watch_places(lambda: settings.max_sessions)
        self.metrics.watch_held(lambda: self.sessions.here)
        self.metrics.watch_drain(lambda: self.drain.has_begun)

    @property
    def journal(self) -> Journal | None:
        """Where episodes are written down; None where they are not."""
        return None if self._playing is None else self._playing.journal

    def close(self) -> None:
        """Let the threads and the store go; no call may follow."""
        self._execution.close()
        if self._playing is not None:
            self._playing.journal.close()
        self.database.close()

    async def aclose(self) -> None:
        """Let go of everything; no call may follow."""
        await self._openings.aclose()
        self.close()
        await self._speaking.aclose()

    async def reset(self, request: ResetRequest, connection: Connection | None = None, env: str | None = None) -> str:
        """Start an episode and return its first answer; see :meth:`Resets.reset`.

        Raises:
            DrainingError: the server is about to stop.
        """
        self.drain.require_open()
        with self.drain.working():
            return await self._resets.reset(request, connection, env)

    async def step(self, record: Record, action: Mapping[str, Any], request_id: str | None = None) -> str:
        """Apply one action and return the answer, or the stored one where ``request_id`` was used before.

        Raises:
            ActionError: the action is not one; nothing was applied.
            EpisodeDoneError, UnknownEpisodeError, RequestConflictError: see there.
            StoreUnavailableError: it cannot be written down; nothing was applied.
        """
        if "metadata" in action:
            # It is not read from here on, and what is kept of an episode should not hold it.
            action = {name: value for name, value in action.items() if name != "metadata"}
        note_episode(record.episode_id, request_id)
        record.in_flight += 1
        self.drain.running += 1
        try:
            if request_id is None and not self._waits:
                # Nothing in it waits, so there is no other step to be kept out.
                return await self._steps.advance(record, action)
            digest = None if request_id is None else digest_of(action)
            async with record.lock:
                return await self._steps.answered(record, action, request_id, digest)
        finally:
            self.drain.running -= 1
            record.in_flight -= 1
            self.sessions.touch(record)

    async def finish(self, record: Record, request_id: str | None = None) -> str:
        """End an episode as with its budget spent and return the answer; as :meth:`step` otherwise."""
        return await self.step(record, FINISH, request_id)

    async def state(self, record: Record) -> str:
        """Return the conversation so far."""
        record.in_flight += 1
        try:
            async with record.lock:
                await self._steps.catch_up(record)
                return record.episode.state().model_dump_json()
        finally:
            record.in_flight -= 1
            self.sessions.touch(record)

    async def trace(self, record: Record) -> str:
        """Return an ended episode as :class:`~ecom_rlve.envs.episode.trace.Trace` dumps it.

        Raises:
            EpisodeLiveError: the episode has not ended.
        """
        async with record.lock:
            await self._steps.catch_up(record)
            if not record.episode.done:
                raise EpisodeLiveError("the episode has not ended; its trace is told after the end")
            self.sessions.touch(record)
            return trace_of(record.episode).dump()

    async def record(self, episode_id: str, env: str | None = None, *, to_read: bool = False) -> Record:
        """Return the episode of this id, of environment ``env`` where the address fixes one; a judge may read others'.

        Raises:
            UnknownEpisodeError, EnvironmentConflictError, UnknownEnvironmentError: see there.
        """
        note_episode(episode_id)
        if self._playing is None:
            record = self.sessions.get(episode_id)
        else:
            record = self._playing.known(episode_id) or await self._playing.found(episode_id)
        if not (is_own(record.account) or (to_read and tokens.may(tokens.Scope.JUDGE))):
            raise UnknownEpisodeError(UNKNOWN)
        if env is not None and environment(env).about.id != record.env_id:
            raise EnvironmentConflictError(f"this episode belongs to {record.env_id}")
        return record

    async def delete(self, record: Record) -> None:
        """Forget an episode at once; a live one has no result.

        Raises:
            UnknownEpisodeError: another worker has forgotten it.
            StoreUnavailableError: it cannot be written.
        """
        if self._playing is None:
            self.sessions.delete(record)
            return
        await self._playing.leave(record)
        self._steps.forget(record)

    def forget(self, record: Record) -> None:
        """Drop an episode from memory that the journal has given up."""
        self._steps.forget(record)

    async def administer(self, change: Callable[[Runs], T]) -> T:
        """Carry out what reads or changes runs and may wait for the store; return and raise what that does.

        The journal's thread does it, so that nobody else waits; without a journal the event loop, as for episodes.

        Raises:
            StoreUnavailableError: the store cannot be written.
        """
        return change(self.runs) if self._playing is None else await self._playing.journal.administer(change)

    async def resume(self, episode_id: str, connection: Connection) -> str:
        """Let a socket take up an episode whose own socket, or worker, was lost; return the conversation so far.

        Raises:
            UnknownEpisodeError: there is none of this id.
        """
        record = await self.record(episode_id)
        state = await self.state(record)
        await self._resets.adopt(record, connection)
        return state

    async def environments(self) -> str:
        """Return the list of :class:`EnvironmentInfo`."""
        if self._environments is None:
            self._environments = await self._execution.run(self._listed)
        return self._environments

    async def missing(self) -> dict[str, str]:
        """Return what keeps this server from doing its work now, by its part; empty if nothing does."""
        checks = {
            "drain": drain_check(self.drain),
            "catalog": catalog_check(self._shop),
            "customer": model_check(self._speaking, self.settings.fallback),
            "store": store_check(self.database, self.settings.store_path),
        }
        return await asyncio.to_thread(missing, checks)

    def metadata(self) -> dict[str, Any]:
        """Return what this server is; cheap, builds nothing."""
        return {
            "name": "ecom-rlve",
            "description": "Verifiable shopping-assistant environments with a simulated customer",
            "version": ecom_rlve.__version__,
            "documentation_url": "/docs",
            "environments": list(environments()),
            "catalog": {
                "source": _without_folder(self.settings.catalog),
                "size": self._shop.catalog.size,
                "fingerprint": self._shop.catalog.fingerprint,
            },
            "active_sessions": self.sessions.active,
            "max_sessions": self.settings.max_sessions,
        }

    async def _prepare(self, spec: EpisodeSpec) -> None:
        """Word the first message of an episode that nobody has asked for yet."""
        await self._speaking.prepare(await self._execution.run(Episode, self._shop, spec, "ahead", include=()))

    async def connect(self) -> Connection:
        """Take a place for a socket.

        Raises:
            CapacityError: none is left, of all workers together.
            StoreUnavailableError: the workers cannot be asked.
        """
        connection = self.sessions.connect()
        if self.journal is not None and self.journal.is_shared:
            try:
                await self.journal.connect(self.sessions.sockets)
            except BaseException:
                self.sessions.disconnect(connection)
                raise
        return connection

    def disconnect(self, connection: Connection, *, is_kept: bool = False) -> None:
        """Free a socket's place and drop its live episode; see :meth:`Sessions.disconnect`.

        ``is_kept``: the socket goes because the server stops, and its episode stays in the journal.
        """
        record = connection.record
        if self._playing is not None and record is not None and not record.episode.done:
            is_taken = self._playing.is_taken(record)
            if is_kept or is_taken:
                self.sessions.put_out(record)
        with suppress(StoreUnavailableError):
            self.sessions.disconnect(connection)

    async def tend(self) -> int:
        """Forget what has expired, and return how many episodes have; look what other workers do.

        Raises:
            StoreUnavailableError: the store cannot be written now.
        """
        expired = self.sessions.reap()
        if self._playing is None:
            return expired
        expired = await self._playing.tend()
        self.metrics.count_expiries(expired)
        return expired

    def _journalled(self, now: Callable[[], float]) -> Playing:
        """Open the store with its journal."""
        settings, shop = self.settings, self._shop
        pins = pins_of(shop)
        path = settings.store_path
        assert path is not None
        opened = open_journal(path, pins, now(), self._log)
        self.database = opened.database
        limits = Limits(
            settings.max_sessions,
            settings.idle_ttl_s,
            settings.lease_s,
            settings.journal_days,
            settings.journal_episodes,
            settings.journal_bytes,
        )

        def runs(database: Database) -> Runs:
            return Runs(shop, database, self._openings.deal)

        self.runs = runs(opened.database)
        journal = Journal(opened, runs, now, limits, is_shared=settings.workers > 1 or self._log is not None)
        self.metrics.watch_journal(lambda: journal.waiting)
        self.sessions.elsewhere = journal.places()
        return Playing(journal, self.sessions, self.leases, shop, pins, self._execution, self.metrics.episodes.tally)

    def _listed(self) -> str:
        infos = [each.about.info(each.max_difficulty(self._shop)) for each in environments().values()]
        return TypeAdapter(list[EnvironmentInfo]).dump_json(infos).decode()


def _without_folder(source: str) -> str:
    """Return the source of a catalog as clients may know it: of a file or folder its name."""
    kind = "hf:" if source.startswith("hf:") else ""
    path = Path(source.removeprefix(kind))
    return kind + path.name if path.is_absolute() or path.exists() else source


def schemas() -> dict[str, Any]:
    """Return the JSON schemas of an action, an observation and a state."""
    # Trainers take a schema titled "Action" for an environment that is called tool by tool.
    return {
        "action": {**Action.model_json_schema(), "title": "ShoppingAction"},
        "observation": Observation.model_json_schema(mode="serialization"),
        "state": EpisodeState.model_json_schema(mode="serialization"),
    }
