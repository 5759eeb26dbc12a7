"""Reset, step and state, without HTTP: what every transport calls.

A step goes through four stages: *understand* what its questions are about, *apply* it to the episode, *word* what the
customer says to it, *encode* the answer. Where the templates speak, the first and the third do nothing. An episode
waits under its own lock, and no other does. It is a function of its spec, its actions and what was said, so a step that
fails for a fault of ours is undone by playing the others again.

With a journal, a step is written down before it is answered (:mod:`ecom_rlve.server.journal`).
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

from pydantic import TypeAdapter

import ecom_rlve
from ecom_rlve.envs.customer.model.errors import VoiceError
from ecom_rlve.envs.customer.turn import NOTHING_UNDERSTOOD, Understood
from ecom_rlve.envs.customer.voice import Voice
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.episode.log import FINISH
from ecom_rlve.envs.episode.trace import play_again, take, trace_of
from ecom_rlve.envs.errors import EnvsError
from ecom_rlve.envs.language.said import said_acts
from ecom_rlve.envs.registry import environment, environments
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import Action, EnvironmentInfo, EpisodeState, Observation, ResetRequest
from ecom_rlve.server.encoding import answer_text, digest_of, metadata_in_run, metadata_with_acts
from ecom_rlve.server.errors import (
    EnvironmentConflictError,
    EpisodeLiveError,
    RequestConflictError,
    SimulatorUnavailableError,
    UnknownEpisodeError,
)
from ecom_rlve.server.execution import Execution, InPlace, Pooled
from ecom_rlve.server.journal.entries import Options
from ecom_rlve.server.journal.errors import BegunBeforeError, OvertakenError
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
from ecom_rlve.server.runs.runs import Assignment, GroupTakenError, Runs, outcome_of
from ecom_rlve.server.sessions import Connection, Record, Sessions, StoredAnswer
from ecom_rlve.server.settings import Settings
from ecom_rlve.server.store.database import Database
from ecom_rlve.server.store.errors import StoreUnavailableError
from ecom_rlve.server.store.ledger import forget_live
from ecom_rlve.server.store.shared import opened_log
from ecom_rlve.server.voices import speaking, told_of

_SEARCHES = frozenset(name for name, tool in TOOLS.items() if tool.is_heavy)
_TRIES = 8
"""Times that a request is tried again because another worker was faster; each time somebody has come further."""
_GONE = "the episode was deleted or replaced meanwhile"


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
        self.sessions = Sessions(
            *limits, now, self._count_end, lambda: self.metrics.count_expiries(1), is_journalled=settings.is_journalled
        )
        self._shop = shop
        is_large = shop.catalog.size > settings.pool_above_products
        self._execution: Execution = InPlace()
        if is_large:
            self._execution = Pooled(settings.pool_threads)
        self._resetting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
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
        self.metrics.tell_build(shop.catalog.fingerprint, shop.catalog.size)
        self.metrics.watch_places(lambda: settings.max_sessions)
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
        """Start an episode and return its first answer.

        Args:
            request: what was asked for.
            connection: the socket that the episode will live on; None over HTTP.
            env: the environment that the address fixes.

        Raises:
            EnvsError: the environment, difficulty, axes or seed cannot be served.
            EnvironmentConflictError, EpisodeExistsError, CapacityError, RequestConflictError, DrainingError: see there.
        """
        self.drain.require_open()
        with self.drain.working():
            return await self._reset(request, connection, env)

    async def _reset(self, request: ResetRequest, connection: Connection | None, env: str | None) -> str:
        if request.request_id is None:
            return await self._open(request, env, connection)
        digest = digest_of([env, request.model_dump(exclude={"request_id"})])
        async with self._resetting.setdefault(request.request_id, asyncio.Lock()):
            known = await self._with_reset_id(request.request_id)
            if known is None:
                try:
                    return await self._open(request, env, connection, digest)
                except BegunBeforeError:
                    # By another worker, meanwhile.
                    known = await self._with_reset_id(request.request_id)
            if known is None or known.reset_answer is None:
                raise StoreUnavailableError("the episode of this reset is being removed; try again later")
            if known.reset_answer.digest != digest:
                raise RequestConflictError("this request_id made another episode; use a new one")
            if connection is not None:
                await self._adopt(known, connection)
            return known.reset_answer.body

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
                return await self._advance(record, action)
            digest = None if request_id is None else digest_of(action)
            async with record.lock:
                return await self._answered(record, action, request_id, digest)
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
                await self._catch_up(record)
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
            await self._catch_up(record)
            if not record.episode.done:
                raise EpisodeLiveError("the episode has not ended; its trace is told after the end")
            self.sessions.touch(record)
            return trace_of(record.episode).dump()

    async def record(self, episode_id: str, env: str | None = None) -> Record:
        """Return the episode of this id, of environment ``env`` where the address fixes one.

        Raises:
            UnknownEpisodeError, EnvironmentConflictError, UnknownEnvironmentError: see there.
        """
        note_episode(episode_id)
        record = self.sessions.find(episode_id)
        if record is None:
            record = self.sessions.get(episode_id) if self._playing is None else await self._playing.found(episode_id)
        if env is not None and environment(env).about.id != record.env_id:
            raise EnvironmentConflictError(f"this episode belongs to {record.env_id}")
        return record

    async def delete(self, record: Record) -> None:
        """Forget an episode at once; a live one has no result.

        Raises:
            UnknownEpisodeError: another worker has forgotten it.
        """
        async with record.lock:
            await self._catch_up(record)
            self.sessions.delete(record)

    async def resume(self, episode_id: str, connection: Connection) -> str:
        """Let a socket take up an episode whose own socket, or worker, was lost; return the conversation so far.

        Raises:
            UnknownEpisodeError: there is none of this id.
        """
        record = await self.record(episode_id)
        state = await self.state(record)
        await self._adopt(record, connection)
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
                "source": self.settings.catalog,
                "size": self._shop.catalog.size,
                "fingerprint": self._shop.catalog.fingerprint,
            },
            "active_sessions": self.sessions.active,
            "max_sessions": self.settings.max_sessions,
        }

    async def _with_reset_id(self, reset_id: str) -> Record | None:
        """Return the episode that a reset with this request id made; None if it is no longer kept."""
        known = self.sessions.by_reset_id(reset_id)
        if known is None and self._playing is not None:
            stored = self._playing.journal.with_reset_id(reset_id)
            known = None if stored is None else await self._playing.found(stored.episode_id)
        return known

    async def _adopt(self, record: Record, connection: Connection) -> None:
        """Hand an episode to a socket."""
        if record.owner is not connection:
            if self._playing is not None and record.row is not None and not record.episode.done:
                await self._playing.journal.own(record.row, is_on_socket=True)
            self.sessions.adopt(record, connection)

    async def _open(
        self, request: ResetRequest, env: str | None, connection: Connection | None, digest: bytes = b""
    ) -> str:
        episode_id = request.episode_id or secrets.token_hex(16)
        note_episode(episode_id, request.request_id)
        with self.sessions.reserve(episode_id, connection):
            for _ in range(_TRIES):
                # Another worker may begin the same group at the same moment.
                with suppress(GroupTakenError):
                    return await self._opened(request, env, connection, episode_id, digest)
        raise StoreUnavailableError("other workers change this group all the time; try again later")

    async def _opened(
        self, request: ResetRequest, env: str | None, connection: Connection | None, episode_id: str, digest: bytes
    ) -> str:
        assignment = self.runs.resolve(request, env)
        try:
            options = self._options(tuple(request.include))
            record = await self._execution.run(self._built, assignment.spec, episode_id, options)
            if request.request_id is not None:
                record.reset_id, record.reset_answer = request.request_id, StoredAnswer(digest, "")
            await self._word_opening(record)
            body = await self._begun(record, assignment, options, connection)
        finally:
            self.runs.release(assignment)
        if request.request_id is not None:
            record.reset_answer = StoredAnswer(digest, body)
        self.sessions.add(record, connection)
        return body

    async def _begun(
        self, record: Record, assignment: Assignment, options: Options, connection: Connection | None
    ) -> str:
        """Begin an episode for its run, and end the one that it replaces, at once or not at all; return the answer."""
        replaced = None if connection is None else connection.record
        run_id, discloses = assignment.run.name, self.settings.disclose_acts
        if self._playing is None:
            with self.runs.transaction():
                if replaced is not None:
                    self._report_end(replaced)
                begun = self.runs.begin(assignment, record.episode_id, discloses_acts=discloses)
                record.metadata = metadata_in_run(record.metadata, run_id, assignment.group_id, begun)
                body = self._encoded(record)
        else:
            # What cannot be sent must not be begun.
            self._encoded(record)
            begun = await self._playing.begin(record, assignment, options, connection, discloses)
            body = self._encoded(record)
        if replaced is not None:
            replaced.entry = None
        record.entry, record.run_id = begun.entry, run_id
        record.tally = self.metrics.episodes.tally(record.env_id, run_id)
        record.tally.begin()
        return body

    async def _prepare(self, spec: EpisodeSpec) -> None:
        """Word the first message of an episode that nobody has asked for yet."""
        await self._speaking.prepare(await self._execution.run(Episode, self._shop, spec, "ahead", include=()))

    async def _word_opening(self, record: Record) -> None:
        try:
            spoken = await self._speaking.say(record.episode)
        except VoiceError as error:
            self.metrics.count_infra_error()
            raise SimulatorUnavailableError(told_of(error)) from error
        if spoken:
            record.episode.reword(spoken)

    async def connect(self, *, is_kept: bool = False) -> Connection:
        """Take a place for a socket; ``is_kept`` as for :meth:`Sessions.connect`.

        Raises:
            CapacityError: none is left, of all workers together.
            StoreUnavailableError: the workers cannot be asked.
        """
        connection = self.sessions.connect(is_kept=is_kept)
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
            is_taken = record.row is not None and self._playing.journal.is_elsewhere(record.row)
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

    def _count_if_over(self, record: Record) -> None:
        if record.episode.done and not record.gone:
            self._count_end(record)

    def _count_end(self, record: Record) -> None:
        """Count an episode that ended or is dropped, once: its run does, and the figures do."""
        if self._playing is None:
            self._report_end(record)
        else:
            self._playing.leave(record)
        self._tally_end(record)

    def _tally_end(self, record: Record) -> None:
        record.entry = None
        if record.tally is not None:
            record.tally.end(record.episode)
            record.tally = None

    def _report_end(self, record: Record) -> None:
        """Tell the run's curriculum how an episode ended, if it waits for it."""
        if record.entry is not None:
            self.runs.end(record.entry, outcome_of(record.episode))

    async def _catch_up(self, record: Record) -> None:
        """Let an episode be as the journal has it: another worker may have played on."""
        if self._playing is not None:
            await self._playing.catch_up(record)

    async def _answered(
        self, record: Record, action: Mapping[str, Any], request_id: str | None, digest: bytes | None
    ) -> str:
        """Return the stored answer to a request, or take its step; the episode's lock is held."""
        if self._playing is not None and self._playing.journal.is_shared:
            await self._playing.catch_up(record)
        for _ in range(_TRIES):
            stored = None if request_id is None else record.answers.get(request_id)
            if stored is not None:
                if stored.digest != digest:
                    raise RequestConflictError("this request_id was used with another action; use a new one")
                return stored.body
            try:
                body = await self._advance(record, action, request_id, digest)
            except OvertakenError:
                await self._overtaken(record)
                continue
            if request_id is not None and digest is not None:
                record.answers[request_id] = StoredAnswer(digest, body)
            return body
        raise StoreUnavailableError("other workers play this episode all the time; try again later")

    async def _overtaken(self, record: Record) -> None:
        if self._playing is not None:
            await self._playing.replace(record)

    async def _advance(
        self,
        record: Record,
        action: Mapping[str, Any],
        request_id: str | None = None,
        digest: bytes | None = None,
    ) -> str:
        """Take a step through its four stages, and write it down; return the answer."""
        understood, failure = NOTHING_UNDERSTOOD, None
        taken, tally = len(record.episode.log.steps), record.tally
        if self._is_worded:
            understood, failure = await self._understood(record, action)
        try:
            started = time.perf_counter()
            if self._execution.is_pool and record.episode.is_heavy(action):
                await self._execution.run(self._apply, record, action, understood)
            else:
                self._apply(record, action, understood)
            self._time_search(record, started)
            if self._is_worded:
                failure = failure or await self._word(record)
            if failure is not None:
                self._abort(record, failure)
            body = self._encoded(record)
            await self._settle(record, request_id, digest, body)
        except (EnvsError, OvertakenError):
            raise
        except BaseException:
            # Also where the request was cancelled: a repeated one must find the episode as it was.
            self._restore(record, taken)
            raise
        if record.gone:
            raise UnknownEpisodeError(_GONE)
        if tally is not None and action is not FINISH:
            tally.count_step(record.episode.log.latest.tool_results)
        if record.episode.done:
            self.sessions.ended(record)
        return body

    async def _settle(self, record: Record, request_id: str | None, digest: bytes | None, body: str) -> None:
        """Write a step down that was taken, and count what has ended with it."""
        if self._playing is None:
            self._count_if_over(record)
            return
        if record.gone:
            return
        started = time.perf_counter()
        await self._playing.append(record, request_id, digest, body)
        self.metrics.observe_commit(time.perf_counter() - started)
        if record.episode.done:
            self._tally_end(record)

    async def _understood(self, record: Record, action: Mapping[str, Any]) -> tuple[Understood, VoiceError | None]:
        """Return what an action's questions are about, and why the episode must end, where it must."""
        try:
            return await self._speaking.understand(record.episode, action), None
        except VoiceError as error:
            return NOTHING_UNDERSTOOD, error

    def _apply(self, record: Record, action: Mapping[str, Any], understood: Understood) -> None:
        if record.gone:
            raise UnknownEpisodeError(_GONE)
        take(record.episode, action, understood)

    def _time_search(self, record: Record, started: float) -> None:
        """Count the time since ``started`` if the latest action searched the catalog."""
        if any(each.name in _SEARCHES for each in record.episode.log.latest.tool_results):
            self.metrics.observe_search(time.perf_counter() - started)

    async def _word(self, record: Record) -> VoiceError | None:
        """Put a voice's words into the latest observation; return why the episode must end, where it must."""
        try:
            spoken = await self._speaking.say(record.episode)
        except VoiceError as error:
            return error
        if spoken:
            record.episode.reword(spoken)
        return None

    def _abort(self, record: Record, failure: VoiceError) -> None:
        """End an episode, for nobody's fault in it, after the step just applied."""
        self.metrics.count_infra_error()
        record.episode.abort(told_of(failure))

    def _encoded(self, record: Record) -> str:
        """Return the answer that the latest observation is sent in."""
        metadata = record.metadata
        if self.settings.disclose_acts:
            metadata = metadata_with_acts(metadata, said_acts(record.episode.acts))
        return answer_text(record.episode.log.latest, metadata)

    def _restore(self, record: Record, steps: int) -> None:
        """Put a new episode that has taken the first ``steps`` in the place of one that a fault of ours has hurt."""
        log = record.episode.log
        del log.steps[steps:]
        record.episode = play_again(record.build, log)

    def _options(self, include: tuple[str, ...]) -> Options:
        settings = self.settings
        return Options(include, settings.disclose_to_policy, settings.reveal_goal, self._speaking.name)

    def _built(self, spec: EpisodeSpec, episode_id: str, options: Options) -> Record:
        arguments = options.build()
        return Record(lambda: Episode(self._shop, spec, episode_id, **arguments))

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
            settings.journal_days,
            settings.journal_episodes,
            settings.journal_bytes,
        )

        def runs(database: Database) -> Runs:
            return Runs(shop, database, self._openings.deal)

        self.runs = runs(opened.database)
        journal = Journal(opened, runs, now, limits, is_shared=settings.workers > 1 or self._log is not None)
        self.metrics.watch_journal(lambda: journal.waiting)
        self.sessions.elsewhere = len(journal.places())
        return Playing(journal, self.sessions, shop, pins, self._execution, self._encoded, self.metrics.episodes.tally)

    def _listed(self) -> str:
        infos = [each.about.info(each.max_difficulty(self._shop)) for each in environments().values()]
        return TypeAdapter(list[EnvironmentInfo]).dump_json(infos).decode()


def schemas() -> dict[str, Any]:
    """Return the JSON schemas of an action, an observation and a state."""
    # Trainers take a schema titled "Action" for an environment that is called tool by tool.
    return {
        "action": {**Action.model_json_schema(), "title": "ShoppingAction"},
        "observation": Observation.model_json_schema(mode="serialization"),
        "state": EpisodeState.model_json_schema(mode="serialization"),
    }
