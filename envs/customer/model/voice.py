"""A voice that lets a language model word the acts, and says the template text if the model's words do not pass.

The model's wording holds places, which code fills. The first wording under a key (model, prompt, parameters, acts,
seed) is kept, in this process and in the cassette, so that the episodes of a group meet the same customer. That also
holds if the template was said because the model took too long.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial

from ecom_rlve.envs.customer.model.asked_once import Flights, Pace
from ecom_rlve.envs.customer.model.cassette import Cassette, CassetteMode, Recording, key_of
from ecom_rlve.envs.customer.model.endpoint import ChatMessage, Endpoint
from ecom_rlve.envs.customer.model.errors import (
    BreakerOpenError,
    EmptyAnswerError,
    EndpointAnswerError,
    EndpointError,
    EndpointTimeoutError,
    MissingRecordingError,
)
from ecom_rlve.envs.customer.model.prompts import PROMPT_VERSION, acts_as_json, messages_for, retry_of, sheet_for
from ecom_rlve.envs.customer.outcome import Finding, Outcome
from ecom_rlve.envs.customer.voice import Spoken, Utterance

_BY_ERROR: tuple[tuple[type[EndpointError], Outcome], ...] = (
    (EndpointTimeoutError, Outcome.FELL_BACK_TIMEOUT),
    (EmptyAnswerError, Outcome.FELL_BACK_EMPTY),
    (EndpointAnswerError, Outcome.FELL_BACK_INVALID),
    (BreakerOpenError, Outcome.FELL_BACK_BREAKER_OPEN),
    (EndpointError, Outcome.FELL_BACK_HTTP),
)


@dataclass(frozen=True, slots=True)
class VoiceSettings:
    """How long to wait for a model's words, and what to do without them."""

    opening_budget_s: float | None = 5.0
    """Longest wait for an opening in seconds, including a second try; None: no limit."""
    reply_budget_s: float | None = 60.0
    """The same for every other utterance."""
    falls_back: bool = True
    """True: if the endpoint fails, the template is said. False: that is an error. Words that do not pass the check are
    replaced by the template in both cases."""


@dataclass(slots=True)
class Tally:
    """What a voice has done so far."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    """Number of utterances by how they came about."""
    requests: int = 0
    """Number of completions that the endpoint gave."""
    tokens: int = 0
    """Tokens of prompts and answers as counted by the endpoint."""


class ModelVoice:
    """Says a model's words if they pass the check, else the template text."""

    def __init__(
        self, endpoint: Endpoint, cassette: Cassette | None = None, settings: VoiceSettings | None = None
    ) -> None:
        """``endpoint`` is never asked if ``cassette`` only replays; but its settings are part of the keys."""
        self.tally = Tally()
        self._endpoint = endpoint
        self._cassette = cassette
        self._settings = settings or VoiceSettings()
        self._flights: Flights[Spoken] = Flights()
        self._pace = Pace()

    async def say(self, utterance: Utterance) -> Spoken:
        """Return the words of an utterance; see :class:`~ecom_rlve.envs.customer.voice.Voice`."""
        settings = self._settings
        spoken = await self._within(settings.reply_budget_s if utterance.turn else settings.opening_budget_s, utterance)
        self.tally.outcomes[spoken.outcome] += 1
        return spoken

    async def prepare(self, utterance: Utterance) -> None:
        """Make the words of an utterance in advance; see :class:`~ecom_rlve.envs.customer.voice.Voice`."""
        await self._within(None, utterance)

    async def aclose(self) -> None:
        """Cancel pending requests, and close connections and cassette."""
        await self._flights.aclose()
        await self._endpoint.aclose()
        if self._cassette is not None:
            self._cassette.close()

    async def _within(self, budget_s: float | None, utterance: Utterance) -> Spoken:
        key, messages = self._prompted(utterance)
        seek = partial(self._found, key, messages, utterance)
        return await self._flights.answer(key, seek, budget_s, partial(self._too_late, key, utterance))

    def _prompted(self, utterance: Utterance) -> tuple[str, list[ChatMessage]]:
        messages = messages_for(utterance)
        settings = self._endpoint.settings
        content = {
            "model": settings.model,
            "messages": messages,
            "parameters": settings.parameters,
            "acts": acts_as_json(utterance.acts),
            "seed": utterance.seed,
            "version": PROMPT_VERSION,
        }
        return key_of(content), messages

    async def _found(self, key: str, messages: list[ChatMessage], utterance: Utterance) -> Spoken:
        """Return the recorded words, or ask the model and record what is said."""
        cassette = self._cassette
        if cassette is None:
            return _said(await self._worded(messages, utterance), utterance)
        recording = await cassette.find(key)
        if recording is not None:
            return _said(recording, utterance)
        if cassette.mode is CassetteMode.REPLAY_OR_FAIL:
            raise MissingRecordingError(key, str(cassette.path))
        if cassette.mode is CassetteMode.REPLAY:
            return Spoken(utterance.template_text, Outcome.FELL_BACK_UNRECORDED)
        return await self._recorded(key, await self._worded(messages, utterance), utterance)

    async def _too_late(self, key: str, utterance: Utterance) -> Spoken:
        if not self._settings.falls_back:
            raise EndpointTimeoutError("the model did not word the message within the time that it may take")
        return await self._recorded(key, _fallback(utterance, Outcome.FELL_BACK_BUDGET), utterance)

    async def _recorded(self, key: str, recording: Recording, utterance: Utterance) -> Spoken:
        """Record what is said, unless another process was first; return what is said under the key."""
        if self._cassette is not None and self._cassette.mode is CassetteMode.RECORD:
            recording = await self._cassette.keep(key, recording)
        return _said(recording, utterance)

    async def _worded(self, messages: list[ChatMessage], utterance: Utterance) -> Recording:
        try:
            wording, finding = await self._tried(messages, utterance)
            if finding is None:
                return Recording(wording, Outcome.ACCEPTED)
            again = retry_of(messages, wording, finding.explanation)
            wording, finding = await self._tried(again, utterance)
        except EndpointError as error:
            if not self._settings.falls_back:
                raise
            outcome = next(outcome for kind, outcome in _BY_ERROR if isinstance(error, kind))
            return _fallback(utterance, outcome)
        return _fallback(utterance, finding.outcome) if finding else Recording(wording, Outcome.RETRIED)

    async def _tried(self, messages: list[ChatMessage], utterance: Utterance) -> tuple[str, Finding | None]:
        """Ask the model once; return its wording with places, and why it does not pass, None if it does."""
        await self._pace.turn()
        try:
            completion = await self._endpoint.complete(messages, utterance.seed)
        except EmptyAnswerError:
            return "", Finding(Outcome.FELL_BACK_EMPTY, "write one message, without thinking about it")
        self.tally.requests += 1
        self.tally.tokens += completion.tokens
        if not completion.is_whole:
            return completion.text, Finding(Outcome.FELL_BACK_LENGTH, "use fewer words")
        await self._pace.turn()
        wording = completion.text + ("." if completion.text[-1].isalnum() or completion.text[-1] == "}" else "")
        return wording, utterance.check(wording)


def _fallback(utterance: Utterance, outcome: Outcome) -> Recording:
    return Recording(utterance.template_text, outcome)


def _said(recording: Recording, utterance: Utterance) -> Spoken:
    """Return a recording's words with its places filled. They are checked, because anyone may have recorded them."""
    outcome = Outcome(recording.outcome)
    if outcome.is_fallback:
        return Spoken(utterance.template_text, outcome)
    finding = utterance.check(recording.text)
    if finding is not None:
        return Spoken(utterance.template_text, finding.outcome)
    return Spoken(sheet_for(utterance).fill(recording.text), outcome)
