"""How an episode takes a step.

A step goes through four stages: *understand* what its questions are about, *apply* it to the episode, *word* what the
customer says to it, *encode* the answer. Where the templates speak, the first and the third do nothing. With a journal
it is then written down, and only then is anybody told. An episode is a function of its spec, its actions and what was
said, so a step that fails for a fault of ours is undone by playing the others again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ecom_rlve.envs.customer.model.errors import VoiceError
from ecom_rlve.envs.customer.turn import NOTHING_UNDERSTOOD, Understood
from ecom_rlve.envs.episode.log import FINISH
from ecom_rlve.envs.episode.trace import play_again, take
from ecom_rlve.envs.errors import EnvsError
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.server.episodes.record import Record
from ecom_rlve.server.errors import RequestConflictError, UnknownEpisodeError
from ecom_rlve.server.execution import Execution
from ecom_rlve.server.journal.errors import OvertakenError
from ecom_rlve.server.journal.playing import Playing
from ecom_rlve.server.metrics import Metrics
from ecom_rlve.server.runs.runs import Runs, outcome_of
from ecom_rlve.server.sessions import Sessions
from ecom_rlve.server.store.errors import StoreUnavailableError
from ecom_rlve.server.voices import Speaking, told_of

_SEARCHES = frozenset(name for name, tool in TOOLS.items() if tool.is_heavy)
_GONE = "the episode was deleted or replaced meanwhile"
TRIES = 8
"""Times that a request is tried again because another worker was faster; each time somebody has come further."""


class Steps:
    """The steps of one server's episodes."""

    def __init__(
        self,
        sessions: Sessions,
        metrics: Metrics,
        execution: Execution,
        runs: Runs,
        playing: Playing | None,
        speaking: Speaking | None,
    ) -> None:
        """``playing`` is None without a journal, ``speaking`` where the templates alone word the customers."""
        self._sessions = sessions
        self._metrics = metrics
        self._execution = execution
        self._runs = runs
        self._playing = playing
        self._speaking = speaking

    async def answered(
        self, record: Record, action: Mapping[str, Any], request_id: str | None, digest: bytes | None
    ) -> str:
        """Return the stored answer to a request, or take its step; the episode's lock is held."""
        if self._playing is not None and self._playing.journal.is_asked_first(record):
            await self._playing.catch_up(record)
        for _ in range(TRIES):
            stored = None if request_id is None else record.answers.get(request_id)
            if stored is not None:
                if stored.digest != digest:
                    raise RequestConflictError("this request_id was used with another action; use a new one")
                return record.answer_to(stored)
            try:
                body = await self.advance(record, action, request_id, digest)
            except OvertakenError:
                await self._overtaken(record)
                continue
            if request_id is not None and digest is not None:
                record.keep_answer(request_id, digest)
            return body
        raise StoreUnavailableError("other workers play this episode all the time; try again later")

    async def advance(
        self,
        record: Record,
        action: Mapping[str, Any],
        request_id: str | None = None,
        digest: bytes | None = None,
    ) -> str:
        """Take a step through its four stages, and write it down; return the answer."""
        understood, failure = NOTHING_UNDERSTOOD, None
        taken, tally = len(record.episode.log.steps), record.tally
        if self._speaking is not None:
            understood, failure = await self._understood(self._speaking, record, action)
        try:
            started = time.perf_counter()
            if self._execution.is_pool and record.episode.is_heavy(action):
                await self._execution.run(self._apply, record, action, understood)
            else:
                self._apply(record, action, understood)
            self._time_search(record, started)
            if self._speaking is not None:
                failure = failure or await self._word(self._speaking, record)
            if failure is not None:
                self._abort(record, failure)
            body = record.latest_answer
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
            self._sessions.ended(record)
        record.pack(len(body) + _said_in(action))
        return body

    async def catch_up(self, record: Record) -> None:
        """Let an episode be as the journal has it: another worker may have played on."""
        if self._playing is not None:
            await self._playing.catch_up(record)

    def count_end(self, record: Record) -> None:
        """Count an episode that ended or is dropped, once: its run does, and the figures do."""
        if self._playing is None:
            self.report_end(record)
        else:
            self._playing.leave_soon(record)
        self._tally_end(record)

    def forget(self, record: Record) -> None:
        """Drop an episode from memory that the journal has given up."""
        self._tally_end(record)
        self._sessions.put_out(record)

    def report_end(self, record: Record) -> None:
        """Tell the run's curriculum how an episode ended, if it waits for it."""
        if record.entry is not None:
            self._runs.end(record.entry, outcome_of(record.episode))

    def _count_if_over(self, record: Record) -> None:
        if record.episode.done and not record.gone:
            self.count_end(record)

    def _tally_end(self, record: Record) -> None:
        record.entry = None
        if record.tally is not None:
            record.tally.end(record.episode)
            record.tally = None

    async def _overtaken(self, record: Record) -> None:
        if self._playing is not None:
            await self._playing.replace(record)

    async def _settle(self, record: Record, request_id: str | None, digest: bytes | None, body: str) -> None:
        """Write a step down that was taken, and count what has ended with it."""
        if self._playing is None:
            self._count_if_over(record)
            return
        if record.gone:
            return
        started = time.perf_counter()
        await self._playing.append(record, request_id, digest, body)
        self._metrics.observe_commit(time.perf_counter() - started)
        if record.episode.done:
            self._tally_end(record)

    async def _understood(
        self, speaking: Speaking, record: Record, action: Mapping[str, Any]
    ) -> tuple[Understood, VoiceError | None]:
        """Return what an action's questions are about, and why the episode must end, where it must."""
        try:
            return await speaking.understand(record.episode, action), None
        except VoiceError as error:
            return NOTHING_UNDERSTOOD, error

    def _apply(self, record: Record, action: Mapping[str, Any], understood: Understood) -> None:
        if record.gone:
            raise UnknownEpisodeError(_GONE)
        take(record.episode, action, understood)

    def _time_search(self, record: Record, started: float) -> None:
        """Count the time since ``started`` if the latest action searched the catalog."""
        if any(each.name in _SEARCHES for each in record.episode.log.latest.tool_results):
            self._metrics.observe_search(time.perf_counter() - started)

    async def _word(self, speaking: Speaking, record: Record) -> VoiceError | None:
        """Put a voice's words into the latest observation; return why the episode must end, where it must."""
        try:
            spoken = await speaking.say(record.episode)
        except VoiceError as error:
            return error
        if spoken:
            record.episode.reword(spoken)
        return None

    def _abort(self, record: Record, failure: VoiceError) -> None:
        """End an episode, for nobody's fault in it, after the step just applied."""
        self._metrics.count_infra_error()
        record.episode.abort(told_of(failure))

    def _restore(self, record: Record, steps: int) -> None:
        """Put a new episode that has taken the first ``steps`` in the place of one that a fault of ours has hurt."""
        log = record.episode.log
        del log.steps[steps:]
        record.episode = play_again(record.build, log)


def _said_in(action: Mapping[str, Any]) -> int:
    """Return how many characters an action says: what can be long of it."""
    texts = (action.get("text"), action.get("assistant_message"))
    return sum(len(text) for text in texts if isinstance(text, str))
