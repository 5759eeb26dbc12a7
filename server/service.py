"""Reset, step and state, without HTTP: what every transport calls.

A step goes through four stages: *understand* what its questions are about, *apply* it to the episode, *word* what the
customer says to it, *encode* the answer. Where the templates speak, the first and the third do nothing. An episode
waits under its own lock, and no other does. It is a function of its spec, its actions and what was said, so a step that
fails for a fault of ours is undone by playing the others again.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from pydantic import TypeAdapter

import ecom_rlve
from ecom_rlve.envs.curriculum.ledger import Outcome
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
from ecom_rlve.server.admission import tokens
from ecom_rlve.server.admission.leases import Leases
from ecom_rlve.server.encoding import answer_text, digest_of, metadata_in_run, metadata_with_acts
from ecom_rlve.server.errors import (
    EnvironmentConflictError,
    EpisodeLiveError,
    RequestConflictError,
    SimulatorUnavailableError,
    UnknownEpisodeError,
)
from ecom_rlve.server.execution import Execution, InPlace, Pooled
from ecom_rlve.server.metrics import Metrics
from ecom_rlve.server.openings import Openings
from ecom_rlve.server.operations.drain import Drain
from ecom_rlve.server.operations.notes import note_episode
from ecom_rlve.server.operations.readiness import catalog_check, drain_check, missing, model_check, store_check
from ecom_rlve.server.runs.runs import Assignment, Runs
from ecom_rlve.server.sessions import Connection, Record, Sessions, StoredAnswer
from ecom_rlve.server.settings import Settings
from ecom_rlve.server.store.database import Database
from ecom_rlve.server.store.errors import StoreUnavailableError
from ecom_rlve.server.voices import speaking, told_of

_SEARCHES = frozenset(name for name, tool in TOOLS.items() if tool.is_heavy)
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
        limits = (settings.max_sessions, settings.max_ended_episodes, settings.idle_ttl_s)
        self.leases = Leases(settings.lease_s, now)
        self.sessions = Sessions(*limits, now, self._count_end, lambda: self.metrics.count_expiry(), self.leases)
        self._shop = shop
        is_large = shop.catalog.size > settings.pool_above_products
        self._execution: Execution = InPlace()
        if is_large:
            self._execution = Pooled(settings.pool_threads)
        self._resetting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._environments: str | None = None
        self.database = Database(settings.store_path)
        self.metrics = Metrics(
            lambda: self.sessions.active, lambda: self.sessions.readable, lambda names: self.runs.frontiers(names)
        )
        self.drain = Drain(settings.grace_s)
        self._speaking = speaking(settings, self.metrics, voice)
        self._is_worded = voice is not None or settings.simulator == "model"
        """A model words the customers: two of a step's four stages wait for it. Else these two do nothing."""
        self._waits = self._is_worded or is_large
        """Steps wait for something: a model, or a thread."""
        ahead = settings.openings_ahead if self._is_worded and not settings.is_replayed else 0
        # Episodes that are being played have the first claim on the model.
        self._openings = Openings(ahead, max(1, settings.model_concurrency // 4), self._prepare)
        self.runs = Runs(shop, self.database, self._openings.deal)
        self.metrics.tell_build(shop.catalog.fingerprint, shop.catalog.size)
        self.metrics.watch_places(lambda: settings.max_sessions)
        self.metrics.watch_drain(lambda: self.drain.has_begun)

    def close(self) -> None:
        """Let the threads and the store go; no call may follow."""
        self._execution.close()
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
        reset_id = _own(request.request_id)
        async with self._resetting.setdefault(reset_id, asyncio.Lock()):
            known = self.sessions.by_reset_id(reset_id)
            if known is None or known.reset_answer is None:
                return await self._open(request, env, connection, digest)
            if known.reset_answer.digest != digest:
                raise RequestConflictError("this request_id made another episode; use a new one")
            if connection is not None:
                self.sessions.adopt(known, connection)
            return known.reset_answer.body

    async def step(self, record: Record, action: Mapping[str, Any], request_id: str | None = None) -> str:
        """Apply one action and return the answer, or the stored one where ``request_id`` was used before.

        Raises:
            ActionError: the action is not one; nothing was applied.
            EpisodeDoneError, UnknownEpisodeError, RequestConflictError: see there.
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
            async with record.lock:
                if request_id is None:
                    return await self._advance(record, action)
                digest = digest_of(action)
                stored = record.answers.get(request_id)
                if stored is None:
                    stored = StoredAnswer(digest, await self._advance(record, action))
                    record.answers[request_id] = stored
                elif stored.digest != digest:
                    raise RequestConflictError("this request_id was used with another action; use a new one")
                return stored.body
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
            if not record.episode.done:
                raise EpisodeLiveError("the episode has not ended; its trace is told after the end")
            self.sessions.touch(record)
            return trace_of(record.episode).dump()

    def record(self, episode_id: str, env: str | None = None, *, to_read: bool = False) -> Record:
        """Return the episode of this id, of environment ``env`` where the address fixes one; a judge may read others'.

        Raises:
            UnknownEpisodeError, EnvironmentConflictError, UnknownEnvironmentError: see there.
        """
        note_episode(episode_id)
        record = self.sessions.get(episode_id, to_read=to_read)
        if env is not None and environment(env).about.id != record.env_id:
            raise EnvironmentConflictError(f"this episode belongs to {record.env_id}")
        return record

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

    async def _open(
        self, request: ResetRequest, env: str | None, connection: Connection | None, digest: bytes = b""
    ) -> str:
        episode_id = request.episode_id or secrets.token_hex(16)
        note_episode(episode_id, request.request_id)
        with self.sessions.reserve(episode_id, connection):
            assignment = self.runs.resolve(request, env)
            try:
                include = tuple(request.include)
                is_judged = tokens.may(tokens.Scope.JUDGE)
                record = await self._execution.run(self._built, assignment.spec, episode_id, include, is_judged)
                await self._word_opening(record)
                body = self._begun(record, assignment, connection)
            finally:
                self.runs.release(assignment)
            if request.request_id is not None:
                record.reset_id = _own(request.request_id)
                record.reset_answer = StoredAnswer(digest, body)
            self.sessions.add(record, connection)
        return body

    def _begun(self, record: Record, assignment: Assignment, connection: Connection | None) -> str:
        """Begin an episode for its run, and end the one that it replaces, at once or not at all; return the answer."""
        replaced = None if connection is None else connection.record
        run_id = assignment.run.name
        with self.runs.transaction():
            if replaced is not None:
                self._report_end(replaced)
            begun = self.runs.begin(assignment, record.episode_id, discloses_acts=record.discloses)
            record.metadata = metadata_in_run(record.metadata, run_id, assignment.group_id, begun)
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

    def disconnect(self, connection: Connection) -> None:
        """Free a socket's place and drop its live episode; see :meth:`Sessions.disconnect`."""
        with suppress(StoreUnavailableError):
            self.sessions.disconnect(connection)

    def _count_if_over(self, record: Record) -> None:
        if record.episode.done and not record.gone:
            self._count_end(record)

    def _count_end(self, record: Record) -> None:
        """Count an episode that ended or is dropped, once: its run does, and the figures do."""
        self._report_end(record)
        record.entry = None
        if record.tally is not None:
            record.tally.end(record.episode)
            record.tally = None

    def _report_end(self, record: Record) -> None:
        """Tell the run's curriculum how an episode ended, if it waits for it."""
        if record.entry is not None:
            self.runs.end(record.entry, outcome_of(record.episode))

    async def _advance(self, record: Record, action: Mapping[str, Any]) -> str:
        """Take a step through its four stages; return the answer."""
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
            self._count_if_over(record)
        except EnvsError:
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
        if record.discloses:
            metadata = metadata_with_acts(metadata, said_acts(record.episode.acts))
        return answer_text(record.episode.log.latest, metadata)

    def _restore(self, record: Record, steps: int) -> None:
        """Put a new episode that has taken the first ``steps`` in the place of one that a fault of ours has hurt."""
        log = record.episode.log
        del log.steps[steps:]
        record.episode = play_again(record.build, log)

    def _built(self, spec: EpisodeSpec, episode_id: str, include: tuple[str, ...], is_judged: bool) -> Record:
        options: dict[str, Any] = {
            "include": include,
            "disclose": self.settings.disclose_to_policy,
            "reveal_goal": self.settings.reveal_goal and is_judged,
            "simulator": self._speaking.name,
        }
        record = Record(lambda: Episode(self._shop, spec, episode_id, **options))
        record.discloses = self.settings.disclose_acts and is_judged
        return record

    def _listed(self) -> str:
        infos = [each.about.info(each.max_difficulty(self._shop)) for each in environments().values()]
        return TypeAdapter(list[EnvironmentInfo]).dump_json(infos).decode()


def _without_folder(source: str) -> str:
    """Return the source of a catalog as clients may know it: of a file or folder its name."""
    kind = "hf:" if source.startswith("hf:") else ""
    path = Path(source.removeprefix(kind))
    return kind + path.name if path.is_absolute() or path.exists() else source


def _own(request_id: str) -> str:
    """Return a reset's request id as it is kept: accounts may use the same."""
    return f"{tokens.account() or ''}/{request_id}"


def outcome_of(episode: Episode) -> Outcome | None:
    """Return what an episode that ended or is dropped says about the policy; None if it says nothing."""
    if not episode.log.taken or (episode.done and episode.result is None):
        return None
    return "left" if episode.result is None else Fraction(episode.result.correct_share)


def schemas() -> dict[str, Any]:
    """Return the JSON schemas of an action, an observation and a state."""
    # Trainers take a schema titled "Action" for an environment that is called tool by tool.
    return {
        "action": {**Action.model_json_schema(), "title": "ShoppingAction"},
        "observation": Observation.model_json_schema(mode="serialization"),
        "state": EpisodeState.model_json_schema(mode="serialization"),
    }
