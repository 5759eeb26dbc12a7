"""The model that words the customers: how it is made from the settings, and how a server uses it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ecom_rlve.envs.customer.model.breaker import Breaker, Phase
from ecom_rlve.envs.customer.model.cassette import Cassette, CassetteMode
from ecom_rlve.envs.customer.model.completions import Completion
from ecom_rlve.envs.customer.model.endpoint import ChatMessage, Endpoint, EndpointSettings
from ecom_rlve.envs.customer.model.errors import (
    BreakerOpenError,
    EndpointError,
    MissingRecordingError,
    VoiceError,
)
from ecom_rlve.envs.customer.model.prompts import PROMPT_VERSION
from ecom_rlve.envs.customer.model.understanding import Understanding
from ecom_rlve.envs.customer.model.voice import ModelVoice, VoiceSettings
from ecom_rlve.envs.customer.turn import NOTHING_UNDERSTOOD, Understood
from ecom_rlve.envs.customer.voice import Spoken, Voice
from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.server.metrics import Metrics
from ecom_rlve.server.settings import Settings


class Speaking(Protocol):
    """Who words the customers, as a server uses them."""

    @property
    def name(self) -> str:
        """What the metadata of episodes says."""

    @property
    def is_resting(self) -> bool:
        """Whether a model is not asked at present, after repeated failures."""

    async def prepare(self, episode: Episode) -> None:
        """Word what the customer of an episode will open with, however long it takes.

        Raises:
            VoiceError: there are no words, and the template may not be said.
        """

    async def say(self, episode: Episode) -> tuple[Spoken, ...]:
        """Word what the customer says in the latest observation; empty where the template text stands.

        Raises:
            VoiceError: there are no words, and the template may not be said.
        """

    async def understand(self, episode: Episode, action: Mapping[str, Any]) -> Understood:
        """Return what an action's questions are about, where the rules cannot tell.

        Raises:
            VoiceError: the cassette must hold the answer and does not.
        """

    async def aclose(self) -> None:
        """Close the voice."""


class TemplateSpeaking:
    """The templates: what an episode says stands already, and the rules alone read questions."""

    name = "template"
    is_resting = False

    async def prepare(self, episode: Episode) -> None:
        """Do nothing."""

    async def say(self, episode: Episode) -> tuple[Spoken, ...]:  # noqa: ARG002 - every implementation gets it, this one decides without
        """Leave the words as they are."""
        return ()

    async def understand(self, episode: Episode, action: Mapping[str, Any]) -> Understood:  # noqa: ARG002 - every implementation gets it, this one decides without
        """Leave the reading as it is."""
        return NOTHING_UNDERSTOOD

    async def aclose(self) -> None:
        """Close nothing."""


class ModelSpeaking:
    """A voice as a server uses it: named, and counted."""

    def __init__(
        self,
        voice: Voice,
        name: str,
        metrics: Metrics,
        understanding: Understanding | None = None,
        breaker: Breaker | None = None,
    ) -> None:
        """``name`` stands in the metadata of episodes. Without ``understanding`` only the rules read questions."""
        self.name = name
        self._voice = voice
        self._metrics = metrics
        self._understanding = understanding
        self._breaker = breaker

    @property
    def is_resting(self) -> bool:
        """Whether the model is not asked at present, after repeated failures."""
        return self._breaker is not None and self._breaker.phase(time.monotonic()) is Phase.OPEN

    async def prepare(self, episode: Episode) -> None:
        """Word the first message of an episode, however long it takes.

        Raises:
            VoiceError: there are no words, and the template may not be said.
        """
        for each in episode.utterances:
            await self._voice.prepare(each)

    async def say(self, episode: Episode) -> tuple[Spoken, ...]:
        """Word what the customer says in the latest observation.

        Raises:
            VoiceError: there are no words, and the template may not be said.
        """
        if not episode.has_spoken:
            return ()
        spoken = tuple(await asyncio.gather(*map(self._voice.say, episode.utterances)))
        for each in spoken:
            self._metrics.count_wording(each.outcome)
        return spoken

    async def understand(self, episode: Episode, action: Mapping[str, Any]) -> Understood:
        """Return what an action's questions are about, according to the model, if the rules cannot say.

        Raises:
            VoiceError: the cassette must hold the answer but does not.
        """
        if self._understanding is None:
            return NOTHING_UNDERSTOOD
        unclear = episode.unclear(action)
        found = await asyncio.gather(*(self._understanding.topics(*each) for each in unclear))
        return {each.text: names for each, names in zip(unclear, found, strict=True) if names}

    async def aclose(self) -> None:
        """Close the voice."""
        if self._understanding is not None:
            await self._understanding.aclose()
        await self._voice.aclose()


class MeasuredEndpoint(Endpoint):
    """An endpoint that measures the time to an answer, including waiting for its turn and further attempts."""

    def __init__(self, settings: EndpointSettings, breaker: Breaker, metrics: Metrics) -> None:
        super().__init__(settings, breaker=breaker, clock=time.monotonic)
        self._metrics = metrics
        metrics.watch_breaker(lambda: breaker.phase(time.monotonic()) is not Phase.CLOSED)

    async def complete(self, messages: Sequence[ChatMessage], seed: int) -> Completion:
        """Return the model's answer; raises an ``EndpointError``."""
        started = time.perf_counter()
        try:
            completion = await super().complete(messages, seed)
        except BreakerOpenError:
            raise
        except EndpointError:
            self._metrics.observe_request(time.perf_counter() - started)
            raise
        self._metrics.observe_request(time.perf_counter() - started)
        return completion


def speaking(settings: Settings, metrics: Metrics, voice: Voice | None) -> Speaking:
    """Return who words the customers as ``settings`` ask for; ``voice`` stands in the model's place.

    Raises:
        CassetteFileError: the file is missing, damaged, or no cassette.
    """
    if voice is not None:
        return ModelSpeaking(voice, settings.model_name or type(voice).__name__, metrics)
    if settings.simulator == "template":
        return TemplateSpeaking()
    breaker = Breaker(cooldown_s=settings.model_cooldown_s)
    endpoint = MeasuredEndpoint(endpoint_settings(settings), breaker, metrics)
    cassette = opened_cassette(settings)
    understanding = Understanding(endpoint, cassette) if settings.understanding else None
    name = f"{settings.model_name}/{PROMPT_VERSION}"
    return ModelSpeaking(model_voice(settings, endpoint, cassette), name, metrics, understanding, breaker)


def model_voice(settings: Settings, endpoint: Endpoint, cassette: Cassette | None) -> ModelVoice:
    """Return the voice of a model."""
    return ModelVoice(
        endpoint,
        cassette,
        VoiceSettings(
            opening_budget_s=settings.opening_budget_s,
            reply_budget_s=settings.reply_budget_s,
            falls_back=settings.fallback != "none",
        ),
    )


def endpoint_settings(settings: Settings) -> EndpointSettings:
    """Return the endpoint of the model."""
    return EndpointSettings(
        base_url=settings.model_url or "",
        model=settings.model_name or "",
        api_key=settings.model_key.get_secret_value() if settings.model_key else "",
        temperature=settings.model_temperature,
        max_tokens=settings.model_max_tokens,
        extra_body=settings.model_extra_body,
        timeout_s=settings.model_timeout_s,
        concurrency=settings.model_concurrency,
    )


def opened_cassette(settings: Settings) -> Cassette | None:
    """Return the cassette that the settings name, None if they name none.

    Raises:
        CassetteFileError: the file is missing, damaged, or no cassette.
    """
    if settings.cassette is None or settings.cassette_mode == "off":
        return None
    return Cassette(settings.cassette, CassetteMode(settings.cassette_mode))


async def require_model(settings: Settings) -> None:
    """Check that the model answers, if the settings require it at the start.

    Raises:
        VoiceError: it does not; the message says what is wrong and what to do.
    """
    if settings.simulator == "template" or settings.is_replayed or settings.fallback == "template":
        return
    endpoint = Endpoint(endpoint_settings(settings))
    try:
        await endpoint.probe()
    finally:
        await endpoint.aclose()


def told_of(failure: VoiceError) -> str:
    """Return what a client may read: the key that a cassette lacks, but no address and no path of the server."""
    if isinstance(failure, MissingRecordingError):
        return f"the cassette has no recording under the key {failure.key}"
    return "the model that words the customer does not answer"
