"""How the customer's acts become words: what a voice is given, what it gives back, and how that came about.

Code picks the acts and writes the template text first; a voice may only word the same acts otherwise, and what it says
has passed a check or is the template (SPEC §7).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from ecom_rlve.envs.simulator.acts import Act
from ecom_rlve.envs.simulator.persona import Persona

if TYPE_CHECKING:
    from ecom_rlve.envs.simulator.wording_check import WordingCheck


class Outcome(StrEnum):
    """How the words of an utterance came about; a label in metrics and traces."""

    TEMPLATE = "template"
    """No model was asked."""
    ACCEPTED = "accepted"
    """The model's first wording passed the check."""
    RETRIED = "retried"
    """The model's second wording passed the check."""
    FELL_BACK_MISSING_VALUE = "fell_back_missing_value"
    """Template: something that had to be said was not, or not exactly."""
    FELL_BACK_EXTRA_VALUE = "fell_back_extra_value"
    """Template: something was said that the acts do not hold."""
    FELL_BACK_MEANING = "fell_back_meaning"
    """Template: the words meant something else than the acts, or the opposite."""
    FELL_BACK_ID = "fell_back_id"
    """Template: the id of a product, an order or an order line was said."""
    FELL_BACK_BRACE = "fell_back_brace"
    """Template: braces, markup, links or invisible characters."""
    FELL_BACK_ROLE = "fell_back_role"
    """Template: the words were not a customer's."""
    FELL_BACK_LENGTH = "fell_back_length"
    """Template: too long, or cut off."""
    FELL_BACK_LANGUAGE = "fell_back_language"
    """Template: not English."""
    FELL_BACK_EMPTY = "fell_back_empty"
    """Template: the model said nothing, or only thought."""
    FELL_BACK_TIMEOUT = "fell_back_timeout"
    """Template: the endpoint did not answer in time."""
    FELL_BACK_HTTP = "fell_back_http"
    """Template: the endpoint was out of reach or answered with an error."""
    FELL_BACK_INVALID = "fell_back_invalid"
    """Template: the endpoint's answer was no chat completion, or too big."""
    FELL_BACK_BREAKER_OPEN = "fell_back_breaker_open"
    """Template: the endpoint had failed too often to be asked."""
    FELL_BACK_BUDGET = "fell_back_budget"
    """Template: the wording was not there within the time that the message may take."""
    FELL_BACK_UNRECORDED = "fell_back_unrecorded"
    """Template: the cassette is only played and does not hold this utterance."""

    @property
    def is_fallback(self) -> bool:
        """The template was said although a model was to be asked."""
        return self.startswith("fell_back")


class Line(NamedTuple):
    """One message of the conversation so far."""

    speaker: Literal["customer", "assistant"]
    text: str


@dataclass(frozen=True)
class Utterance:
    """What the customer says at one point of an episode: plain data, equal in equal episodes."""

    acts: tuple[Act, ...]
    turn: int
    """Closed turns so far; 0 is the opening."""
    number: int
    """Position among the utterances of the same step, from 0."""
    persona: Persona
    template_text: str
    """The acts in the template's words, noise included: what is said where no other wording passes."""
    plain_text: str
    """The same before noise: what a model is given to word anew."""
    earlier: tuple[Line, ...]
    """The last lines of the conversation before this one, oldest first; may be empty."""
    seed: int
    """0 to 2**31 - 1: drawn from the episode's streams, for the request to a model."""
    make_check: Callable[[], WordingCheck] = field(compare=False, repr=False)
    """Builds the check; called at most once, and never where the template speaks. Must be called before the
    episode's next step, since what is unsaid changes with it."""

    @cached_property
    def check(self) -> WordingCheck:
        """The check that another wording must pass."""
        return self.make_check()


class Spoken(NamedTuple):
    """What is said."""

    text: str
    outcome: Outcome


class Voice(Protocol):
    """Words utterances."""

    async def say(self, utterance: Utterance) -> Spoken:
        """Return the words; equal utterances get equal words from the same voice.

        Raises :class:`~ecom_rlve.envs.simulator.model_errors.VoiceError` where there are none and the template may not
        stand in: an infrastructure failure, never the agent's fault.
        """
        ...

    async def prepare(self, utterance: Utterance) -> None:
        """Have the words ready of an utterance that may be asked for, however long it takes.

        Raises as :meth:`say` does.
        """
        ...

    async def aclose(self) -> None:
        """Close connections and files."""
        ...


class TemplateOnly:
    """The default voice: says the template text."""

    async def say(self, utterance: Utterance) -> Spoken:
        """Return the template text."""
        return Spoken(utterance.template_text, Outcome.TEMPLATE)

    async def prepare(self, utterance: Utterance) -> None:
        """Do nothing: the template text is there."""

    async def aclose(self) -> None:
        """Close nothing."""
