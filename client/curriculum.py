"""The client's side of runs: reading and setting a curriculum, drawing episodes, reporting them.

The operations are written once, as generators like those of :mod:`ecom_rlve.client.protocol`; :class:`Curriculum` and
:class:`AsyncCurriculum` only perform them. A repeated request does no harm: sets and merges are the same when done
twice, an episode is counted once, and a fork that was made already is returned as it is. Drawing again draws others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

from pydantic import BaseModel

from ecom_rlve.client.answers import parse
from ecom_rlve.client.protocol import Operation, Request, encode, exchange
from ecom_rlve.run_models import (
    ReportAnswer,
    ReportedEpisode,
    RunExport,
    RunSettings,
    RunState,
    Sample,
    SampledEpisode,
)

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


class RunOperations:
    """What can be asked of one run."""

    def __init__(self, run_id: str, retry_for: float) -> None:
        self.run_id = run_id
        self._path = f"/curriculum/{quote(run_id, safe='')}"
        self._retry_for = retry_for

    def read(self) -> Operation[RunState]:
        """Read the run."""
        return (yield from self._answered(RunState, "GET", self._path))

    def put(self, settings: RunSettings) -> Operation[RunState]:
        """Set the run's settings."""
        return (yield from self._answered(RunState, "PUT", self._path, settings.model_dump(mode="json")))

    def export(self) -> Operation[RunExport]:
        """Export the curriculum."""
        return (yield from self._answered(RunExport, "GET", f"{self._path}/export"))

    def import_(self, exports: Iterable[RunExport]) -> Operation[RunState]:
        """Merge exports into the run."""
        body = {"exports": [each.model_dump(mode="json") for each in exports]}
        return (yield from self._answered(RunState, "POST", f"{self._path}/import", body))

    def fork(self, run_id: str) -> Operation[RunState]:
        """Fork the run."""
        return (yield from self._answered(RunState, "POST", f"{self._path}/fork", {"run_id": run_id}))

    def delete(self) -> Operation[None]:
        """Forget the run."""
        yield from self._exchanged("DELETE", self._path)

    def sample(self, n: int, arguments: Mapping[str, Any]) -> Operation[list[SampledEpisode]]:
        """Draw episodes."""
        body = {**arguments, "n": n, "run_id": self.run_id}
        return (yield from self._answered(Sample, "POST", "/episodes/sample", body)).episodes

    def report(self, episodes: Iterable[ReportedEpisode | Mapping[str, Any]]) -> Operation[ReportAnswer]:
        """Report episodes."""
        rows = [each.model_dump(mode="json") if isinstance(each, BaseModel) else dict(each) for each in episodes]
        return (yield from self._answered(ReportAnswer, "POST", f"{self._path}/report", {"episodes": rows}))

    def delete_episodes(self) -> Operation[None]:
        """Forget the run's live episodes."""
        yield from self._exchanged("DELETE", "/episodes", params={"run_id": self.run_id})

    def _answered(self, model: type[M], method: str, path: str, body: Any = None) -> Operation[M]:
        content = yield from self._exchanged(method, path, None if body is None else encode(body))
        return parse(model, content)

    def _exchanged(
        self, method: str, path: str, content: bytes | None = None, params: Mapping[str, str] | None = None
    ) -> Operation[bytes]:
        request = Request(method, path, uuid4().hex, content, params)
        return (yield from exchange(request, self._retry_for))


class Curriculum:
    """One run of a server; :meth:`EcomEnv.curriculum` makes it.

    Every method raises :class:`RunError` where the run is not there or not as the request wants it, and, as every
    call, :class:`InvalidRequestError`, :class:`UnauthorizedError` and :class:`ServerUnavailableError`.
    """

    def __init__(self, operations: RunOperations, run: Callable[[Operation[Any]], Any]) -> None:
        self._operations = operations
        self._run = run

    @property
    def run_id(self) -> str:
        """The run's name; ``reset(run_id=...)`` plays it."""
        return self._operations.run_id

    def read(self) -> RunState:
        """Return settings, pins and frontiers."""
        return self._perform(self._operations.read())

    def put(self, settings: RunSettings) -> RunState:
        """Set parameters, weights, reward profile and size of observations; makes the run if there is none."""
        return self._perform(self._operations.put(settings))

    def export(self) -> RunExport:
        """Return the curriculum as plain data."""
        return self._perform(self._operations.export())

    def import_(self, exports: Iterable[RunExport]) -> RunState:
        """Merge exports of this and other servers into the run; the order changes nothing."""
        return self._perform(self._operations.import_(exports))

    def fork(self, run_id: str) -> RunState:
        """Make a run of another name with this one's levels, on what the server serves today."""
        return self._perform(self._operations.fork(run_id))

    def delete(self) -> None:
        """Forget the run with its curriculum and groups."""
        self._perform(self._operations.delete())

    def sample(self, n: int = 1, **arguments: Any) -> list[SampledEpisode]:
        """Draw ``n`` episodes, each a group of its own; the arguments are those of ``SampleRequest``.

        ``reset(**episode.model_dump())`` plays one, any number of times.
        """
        return self._perform(self._operations.sample(n, arguments))

    def report(self, episodes: Iterable[ReportedEpisode | Mapping[str, Any]]) -> ReportAnswer:
        """Count episodes that were drawn here and played elsewhere; say of each whether it counts."""
        return self._perform(self._operations.report(episodes))

    def delete_episodes(self) -> None:
        """Forget the run's live episodes and free their places, after a crash say."""
        self._perform(self._operations.delete_episodes())

    def _perform(self, operation: Operation[T]) -> T:
        value: T = self._run(operation)
        return value


class AsyncCurriculum:
    """:class:`Curriculum` for asyncio: the same methods, awaited."""

    def __init__(self, operations: RunOperations, run: Callable[[Operation[Any]], Awaitable[Any]]) -> None:
        self._operations = operations
        self._run = run

    @property
    def run_id(self) -> str:
        """The run's name."""
        return self._operations.run_id

    async def read(self) -> RunState:
        """See :meth:`Curriculum.read`."""
        return await self._perform(self._operations.read())

    async def put(self, settings: RunSettings) -> RunState:
        """See :meth:`Curriculum.put`."""
        return await self._perform(self._operations.put(settings))

    async def export(self) -> RunExport:
        """See :meth:`Curriculum.export`."""
        return await self._perform(self._operations.export())

    async def import_(self, exports: Iterable[RunExport]) -> RunState:
        """See :meth:`Curriculum.import_`."""
        return await self._perform(self._operations.import_(exports))

    async def fork(self, run_id: str) -> RunState:
        """See :meth:`Curriculum.fork`."""
        return await self._perform(self._operations.fork(run_id))

    async def delete(self) -> None:
        """See :meth:`Curriculum.delete`."""
        await self._perform(self._operations.delete())

    async def sample(self, n: int = 1, **arguments: Any) -> list[SampledEpisode]:
        """See :meth:`Curriculum.sample`."""
        return await self._perform(self._operations.sample(n, arguments))

    async def report(self, episodes: Iterable[ReportedEpisode | Mapping[str, Any]]) -> ReportAnswer:
        """See :meth:`Curriculum.report`."""
        return await self._perform(self._operations.report(episodes))

    async def delete_episodes(self) -> None:
        """See :meth:`Curriculum.delete_episodes`."""
        await self._perform(self._operations.delete_episodes())

    async def _perform(self, operation: Operation[T]) -> T:
        value: T = await self._run(operation)
        return value
