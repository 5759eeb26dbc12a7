"""Reset, step and state, without HTTP: what every transport calls.

Answers are JSON texts made once: what is stored for a repeated request id is what was sent, byte for byte.
A small catalog is served on the event loop, where a step takes well under a millisecond; a large one in a bounded
pool of threads. Where a model words the customer, an episode waits for it under its own lock, and no other does. An
episode is a function of its spec, its actions and what was said, so a step that fails for a fault of ours is undone by
playing the others again.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from math import isfinite
from typing import Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from pydantic import TypeAdapter

import ecom_rlve
from ecom_rlve.envs.customer.model.errors import VoiceError
from ecom_rlve.envs.customer.turn import NOTHING_UNDERSTOOD, Understood
from ecom_rlve.envs.customer.voice import Voice
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.episode.trace import FINISH, Recorder, take
from ecom_rlve.envs.errors import EnvsError
from ecom_rlve.envs.registry import environment, environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import Action, EnvironmentInfo, EpisodeState, Observation, ResetRequest
from ecom_rlve.server.errors import (
    AnswerError,
    EnvironmentConflictError,
    EpisodeLiveError,
    RequestConflictError,
    SimulatorUnavailableError,
    UnknownEpisodeError,
)
from ecom_rlve.server.metrics import Metrics
from ecom_rlve.server.openings import Openings
from ecom_rlve.server.runs import Runs
from ecom_rlve.server.sessions import Connection, Record, Sessions, StoredAnswer, Taken
from ecom_rlve.server.settings import Settings
from ecom_rlve.server.voices import Speaking, speaking, told_of

_P = ParamSpec("_P")
_T = TypeVar("_T")
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
        self.sessions = Sessions(*limits, now, self._count)
        self._shop = shop
        self._large = shop.catalog.size > settings.pool_above_products
        self._pool = ThreadPoolExecutor(settings.pool_threads, thread_name_prefix="episode")
        self._resetting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._environments: str | None = None
        self.metrics = Metrics(lambda: self.sessions.active, lambda: self.sessions.readable)
        self.speaking: Speaking | None = speaking(settings, self.metrics, voice)
        """The model that words the customers; None where the templates do."""
        ahead = 0 if self.speaking is None or settings.is_replayed else settings.openings_ahead
        # Episodes that are being played have the first claim on the model.
        self._openings = Openings(ahead, max(1, settings.model_concurrency // 4), self._prepare)
        self.runs = Runs(shop, now, self._openings.deal)

    def close(self) -> None:
        """Let the threads go; no call may follow."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def aclose(self) -> None:
        """Let go of everything; no call may follow."""
        await self._openings.aclose()
        self.close()
        if self.speaking is not None:
            await self.speaking.aclose()

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
        digest = _digest([env, request.model_dump(exclude={"request_id"})])
        async with self._resetting.setdefault(request.request_id, asyncio.Lock()):
            known = self.sessions.by_reset_id(request.request_id)
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
        record.in_flight += 1
        try:
            if request_id is None and not self._large and self.speaking is None:
                # Nothing in here waits, so there is no other step to be kept out.
                return self._advanced(record, self._applied(record, action))
            async with record.lock:
                if request_id is None:
                    return await self._advance(record, action)
                digest = _digest(action)
                stored = record.answers.get(request_id)
                if stored is None:
                    stored = StoredAnswer(digest, await self._advance(record, action))
                    record.answers[request_id] = stored
                elif stored.digest != digest:
                    raise RequestConflictError("this request_id was used with another action; use a new one")
                return stored.body
        finally:
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

        It is written by playing the episode again, once, which gives the same bytes.

        Raises:
            EpisodeLiveError: the episode has not ended.
        """
        async with record.lock:
            if not record.episode.done:
                raise EpisodeLiveError("the episode has not ended; its trace is told after the end")
            self.sessions.touch(record)
            if record.trace is None:
                record.trace = (await self._run(_again, record)).trace.dump()
            return record.trace

    def record(self, episode_id: str, env: str | None = None) -> Record:
        """Return the episode of this id, of environment ``env`` where the address fixes one.

        Raises:
            UnknownEpisodeError, EnvironmentConflictError, UnknownEnvironmentError: see there.
        """
        record = self.sessions.get(episode_id)
        if env is not None and environment(env).id != record.env_id:
            raise EnvironmentConflictError(f"this episode belongs to {record.env_id}")
        return record

    async def environments(self) -> str:
        """Return the list of :class:`EnvironmentInfo`."""
        if self._environments is None:
            self._environments = await self._run(self._listed)
        return self._environments

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

    async def _open(
        self, request: ResetRequest, env: str | None, connection: Connection | None, digest: bytes = b""
    ) -> str:
        episode_id = request.episode_id or secrets.token_hex(16)
        with self.sessions.reserve(episode_id, connection):
            assignment = self.runs.resolve(request, env)
            try:
                record, body = await self._run(self._built, assignment.spec, episode_id, tuple(request.include))
                if self.speaking is not None:
                    body = await self._open_worded(self.speaking, record)
            except BaseException:
                self.runs.give_back(request)
                raise
            record.counts_for, record.run_id = assignment.run_id, request.run_id
            if request.request_id is not None:
                record.reset_id = request.request_id
                record.reset_answer = StoredAnswer(digest, body)
            self.sessions.add(record, connection)
        return body

    async def _prepare(self, spec: EpisodeSpec) -> None:
        """Word the first message of an episode that nobody has asked for yet."""
        if self.speaking is not None:
            await self.speaking.prepare(await self._run(Episode, self._shop, spec, "ahead", include=()))

    async def _open_worded(self, speaking: Speaking, record: Record) -> str:
        """Let the model word the first message; return the answer."""
        try:
            record.opening = await speaking.say(record.episode)
        except VoiceError as error:
            self.metrics.count_infra_error()
            raise SimulatorUnavailableError(told_of(error)) from error
        return _answer(record.episode.reword([each.text for each in record.opening]), record.metadata)

    def _count(self, record: Record) -> None:
        """Let the run count an episode that ended, or was given up after its first step; once."""
        run_id = record.counts_for
        if run_id is not None and record.episode.steps:
            record.counts_for = None
            self.runs.count(run_id, record.episode)

    async def _advance(self, record: Record, action: Mapping[str, Any]) -> str:
        if self.speaking is not None:
            return self._advanced(record, await self._advance_worded(self.speaking, record, action))
        if not record.episode.is_heavy(action):
            return self._advanced(record, self._applied(record, action))
        return self._advanced(record, await self._run(self._applied, record, action))

    async def _advance_worded(self, speaking: Speaking, record: Record, action: Mapping[str, Any]) -> str:
        """Apply an action to an episode whose customer a model words; return the answer."""
        failure, understood = None, NOTHING_UNDERSTOOD
        try:
            understood = await speaking.understand(record.episode, action)
        except VoiceError as error:
            failure = error
        body = await self._run(self._applied, record, action, understood)
        try:
            if failure is None and record.episode.has_spoken:
                try:
                    spoken = await speaking.say(record.episode)
                    record.steps[-1] = record.steps[-1]._replace(spoken=spoken)
                    body = _answer(record.episode.reword([each.text for each in spoken]), record.metadata)
                except VoiceError as error:
                    failure = error
            if failure is not None:
                body = self._aborted(record, failure)
        except BaseException:
            # Also where the request was cancelled: a repeated one must find the episode as it was.
            record.steps.pop()
            record.episode = _again(record).episode
            raise
        if record.gone:
            raise UnknownEpisodeError(_GONE)
        return body

    def _aborted(self, record: Record, failure: VoiceError) -> str:
        """End an episode, for nobody's fault in it, after the step just applied; return the answer."""
        record.infra_error, record.counts_for = told_of(failure), None
        self.metrics.count_infra_error()
        return _answer(record.episode.abort(record.infra_error), record.metadata)

    def _advanced(self, record: Record, body: str) -> str:
        if record.episode.done:
            self._count(record)
            self.sessions.ended(record)
        return body

    async def _run(self, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Call ``function`` here or, where the catalog is large, in a thread."""
        if not self._large:
            return function(*args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: function(*args, **kwargs))

    def _built(self, spec: EpisodeSpec, episode_id: str, include: tuple[str, ...]) -> tuple[Record, str]:
        disclose, reveal_goal = self.settings.disclose_to_policy, self.settings.reveal_goal
        simulator = "template" if self.speaking is None else self.speaking.name

        def build() -> Episode:
            options: dict[str, Any] = {"include": include, "disclose": disclose, "reveal_goal": reveal_goal}
            return Episode(self._shop, spec, episode_id, simulator=simulator, **options)

        record = Record(build)
        return record, _answer(record.episode.opening, record.metadata)

    def _applied(self, record: Record, action: Mapping[str, Any], understood: Understood = NOTHING_UNDERSTOOD) -> str:
        if record.gone:
            raise UnknownEpisodeError(_GONE)
        try:
            body = _answer(take(record.episode, action, understood), record.metadata)
        except EnvsError:
            raise
        except Exception:
            record.episode = _again(record).episode
            raise
        record.steps.append(Taken(action, (), understood))
        return body

    def _listed(self) -> str:
        infos = [
            EnvironmentInfo(
                env_id=each.id,
                title=each.title,
                version=each.version,
                max_difficulty=each.max_difficulty(self._shop),
                tools=list(each.tool_names),
                answer_schema=each.answer_schema(),
            )
            for each in environments().values()
        ]
        return TypeAdapter(list[EnvironmentInfo]).dump_json(infos).decode()


def _again(record: Record) -> Recorder:
    """Play an episode again, as far as it was played."""
    recorder = Recorder(record.build())
    if record.opening:
        recorder.reword(record.opening)
    for action, spoken, understood in record.steps:
        recorder.step(action, understood)
        if spoken:
            recorder.reword(spoken)
    if record.infra_error is not None:
        recorder.abort(record.infra_error)
    return recorder


def schemas() -> dict[str, Any]:
    """Return the JSON schemas of an action, an observation and a state."""
    # Trainers take a schema titled "Action" for an environment that is called tool by tool.
    return {
        "action": {**Action.model_json_schema(), "title": "ShoppingAction"},
        "observation": Observation.model_json_schema(mode="serialization"),
        "state": EpisodeState.model_json_schema(mode="serialization"),
    }


def _answer(observation: Observation, metadata: str) -> str:
    """Return the JSON text of an answer.

    Raises:
        AnswerError: a number of it is not finite.
        PydanticSerializationError: a value of it is not plain JSON.
    """
    reward, result = observation.reward, observation.result
    numbers = (reward or 0.0,) if result is None else (reward or 0.0, result.r_task, result.r_eff, result.r_hall)
    if not all(map(isfinite, numbers)):
        raise AnswerError("a reward is not finite")
    told = "null" if reward is None else repr(float(reward))
    done = "true" if observation.done else "false"
    # What model_dump_json does, less its twenty options.
    body = Observation.__pydantic_serializer__.to_json(observation, exclude_unset=True).decode()
    return f'{{"observation":{body},"reward":{told},"done":{done},"metadata":{metadata}}}'


def _digest(body: Any) -> bytes:
    return blake2b(json.dumps(body, sort_keys=True).encode(), digest_size=16).digest()
