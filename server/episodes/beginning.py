"""How an episode begins: which one it is, its first words, and its place in its run."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakValueDictionary

from ecom_rlve.envs.customer.model.errors import VoiceError
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import ResetRequest
from ecom_rlve.server.admission import tokens
from ecom_rlve.server.admission.leases import client
from ecom_rlve.server.encoding import digest_of, metadata_in_run
from ecom_rlve.server.episodes.record import Connection, Record, StoredAnswer
from ecom_rlve.server.episodes.stepping import TRIES
from ecom_rlve.server.errors import RequestConflictError, SimulatorUnavailableError
from ecom_rlve.server.execution import Execution
from ecom_rlve.server.journal.entries import Options
from ecom_rlve.server.journal.errors import BegunBeforeError
from ecom_rlve.server.journal.playing import Playing
from ecom_rlve.server.metrics import Metrics
from ecom_rlve.server.operations.notes import note_episode
from ecom_rlve.server.runs.runs import Assignment, GroupTakenError, Runs
from ecom_rlve.server.runs.specs import named_environment
from ecom_rlve.server.sessions import Sessions
from ecom_rlve.server.settings import Settings
from ecom_rlve.server.store.errors import StoreUnavailableError
from ecom_rlve.server.voices import Speaking, told_of


class Resets:
    """The resets of one server."""

    def __init__(
        self,
        settings: Settings,
        shop: Shop,
        sessions: Sessions,
        metrics: Metrics,
        execution: Execution,
        runs: Runs,
        playing: Playing | None,
        speaking: Speaking,
        report_end: Callable[[Record], None],
    ) -> None:
        """``playing`` is None without a journal; ``report_end`` tells a run then how a replaced episode ended."""
        self._settings = settings
        self._shop = shop
        self._sessions = sessions
        self._metrics = metrics
        self._execution = execution
        self._runs = runs
        self._playing = playing
        self._speaking = speaking
        self._report_end = report_end
        self._resetting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def reset(self, request: ResetRequest, connection: Connection | None = None, env: str | None = None) -> str:
        """Start an episode and return its first answer.

        Args:
            request: what was asked for.
            connection: the socket that the episode will live on; None over HTTP.
            env: the environment that the address fixes.

        Raises:
            EnvsError: the environment, difficulty, axes or seed cannot be served.
            EnvironmentConflictError, EpisodeExistsError, CapacityError, RequestConflictError: see there.
        """
        if request.request_id is None:
            return await self._open(request, env, connection)
        digest = digest_of([env, request.model_dump(exclude={"request_id"})])
        reset_id = tokens.own_name(request.request_id)
        async with self._resetting.setdefault(reset_id, asyncio.Lock()):
            known = await self._with_reset_id(reset_id)
            if known is None:
                try:
                    return await self._open(request, env, connection, digest)
                except BegunBeforeError:
                    # By another worker, meanwhile.
                    known = await self._with_reset_id(reset_id)
            if known is None or known.reset_answer is None:
                raise StoreUnavailableError("the episode of this reset is being removed; try again later")
            if known.reset_answer.digest != digest:
                raise RequestConflictError("this request_id made another episode; use a new one")
            if connection is not None:
                await self.adopt(known, connection)
            return known.reset_answer.body

    async def _with_reset_id(self, reset_id: str) -> Record | None:
        """Return the episode that a reset with this request id made; None if it is no longer kept."""
        known = self._sessions.by_reset_id(reset_id)
        if known is None and self._playing is not None:
            stored = self._playing.journal.with_reset_id(reset_id)
            known = None if stored is None else await self._playing.found(stored.episode_id)
        return known

    async def adopt(self, record: Record, connection: Connection) -> None:
        """Hand an episode to a socket or a session.

        Raises:
            UnknownSessionError: that was closed meanwhile.
            StoreUnavailableError: it cannot be written.
        """
        if record.owner is not connection:
            if self._playing is not None:
                await self._playing.own(record, connection)
            self._sessions.adopt(record, connection)

    async def _open(
        self, request: ResetRequest, env: str | None, connection: Connection | None, digest: bytes = b""
    ) -> str:
        episode_id = request.episode_id or secrets.token_hex(16)
        note_episode(episode_id, request.request_id)
        with self._sessions.reserve(episode_id, connection):
            for _ in range(TRIES):
                # Another worker may begin the same group at the same moment.
                with suppress(GroupTakenError):
                    return await self._opened(request, env, connection, episode_id, digest)
        raise StoreUnavailableError("other workers change this group all the time; try again later")

    async def _opened(
        self, request: ResetRequest, env: str | None, connection: Connection | None, episode_id: str, digest: bytes
    ) -> str:
        await self._open_run(request, env)
        assignment = self._runs.resolve(request, env)
        try:
            options = self._options(tuple(request.include))
            record = await self._execution.run(self._built, assignment.spec, episode_id, options)
            if request.request_id is not None:
                record.reset_id, record.reset_answer = tokens.own_name(request.request_id), StoredAnswer(digest, "")
            await self._word_opening(record)
            body = await self._begun(record, assignment, options, connection)
        finally:
            self._runs.release(assignment)
        if request.request_id is not None:
            record.reset_answer = StoredAnswer(digest, body)
        self._sessions.add(record, connection)
        return body

    async def _open_run(self, request: ResetRequest, env: str | None) -> None:
        """Make the run that a reset names, where there is none, in the journal's thread."""
        if self._playing is not None and not self._runs.is_open(request.run_id):
            # A run is made by no reset that cannot be served.
            named_environment(request, env)
            await self._playing.journal.administer(lambda runs: runs.opened(request.run_id))

    async def _begun(
        self, record: Record, assignment: Assignment, options: Options, connection: Connection | None
    ) -> str:
        """Begin an episode for its run, and end the one that it replaces, at once or not at all; return the answer."""
        replaced = None if connection is None else connection.record
        run_id, discloses = assignment.run.name, record.discloses
        if self._playing is None:
            with self._runs.transaction():
                if replaced is not None:
                    self._report_end(replaced)
                begun = self._runs.begin(assignment, record.episode_id, discloses_acts=discloses)
                record.metadata = metadata_in_run(record.metadata, run_id, assignment.group_id, begun)
                body = record.latest_answer
        else:
            # What cannot be sent must not be begun.
            _ = record.latest_answer
            begun = await self._playing.begin(record, assignment, options, connection)
            body = record.latest_answer
        if replaced is not None:
            replaced.entry = None
        record.entry, record.run_id = begun.entry, run_id
        record.tally = self._metrics.episodes.tally(record.env_id, run_id)
        record.tally.begin()
        return body

    async def _word_opening(self, record: Record) -> None:
        try:
            spoken = await self._speaking.say(record.episode)
        except VoiceError as error:
            self._metrics.count_infra_error()
            raise SimulatorUnavailableError(told_of(error)) from error
        if spoken:
            record.episode.reword(spoken)

    def _options(self, include: tuple[str, ...]) -> Options:
        settings = self._settings
        is_judged = tokens.may(tokens.Scope.JUDGE)
        return Options(
            include,
            settings.disclose_to_policy,
            settings.reveal_goal and is_judged,
            self._speaking.name,
            settings.disclose_acts and is_judged,
        )

    def _built(self, spec: EpisodeSpec, episode_id: str, options: Options) -> Record:
        arguments = options.build()
        record = Record(lambda: Episode(self._shop, spec, episode_id, **arguments))
        record.discloses, record.account, record.client = options.discloses, tokens.account(), client()
        return record
