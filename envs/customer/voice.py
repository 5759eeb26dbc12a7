"""The interface of a voice, which turns the customer's acts into words.

Code picks the acts and writes the template text first. A voice may only write other sentences around the places of the
same acts, which code fills. What it says has passed a check or is the template text (SPEC §7).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

from ecom_rlve.envs.customer.outcome import Finding, Outcome
from ecom_rlve.envs.language.acts import Act
from ecom_rlve.envs.language.persona import Persona

Check = Callable[[str], Finding | None]
"""Returns why a wording with places does not pass, None if it does."""


class Line(NamedTuple):
    """One message of the conversation so far."""

    speaker: Literal["customer", "assistant"]
    text: str


@dataclass(frozen=True)
class Utterance:
    """What the customer says at one point of an episode, as plain data; equal episodes have equal utterances."""

    acts: tuple[Act, ...]
    turn: int
    """Closed turns so far; 0 is the opening."""
    number: int
    """Position among the utterances of its step, from 0."""
    persona: Persona
    template_text: str
    """The acts in the template's words, with typing noise. It is said if no other wording passes."""
    env_id: str
    """Id of the only environment whose errand the episode holds; empty in a journey, where the acts name theirs."""
    earlier: tuple[Line, ...]
    """The last lines of the conversation before this one, oldest first; may be empty."""
    seed: int
    """0 to 2**31 - 1, drawn from the episode's streams; part of the request to a model."""
    make_check: Callable[[], Check] = field(compare=False, repr=False)
    """Builds the check; called at most once, and never if the template speaks. It must be called before the episode's
    next step, because that step changes what is still unsaid."""

    @cached_property
    def check(self) -> Check:
        """The check that another wording must pass."""
        return self.make_check()


class Spoken(NamedTuple):
    """What is said, and how the words came about."""

    text: str
    outcome: Outcome


class Voice(Protocol):
    """Words utterances."""

    async def say(self, utterance: Utterance) -> Spoken:
        """Return the words; equal utterances get equal words from the same voice.

        Raises :class:`~ecom_rlve.envs.customer.model.errors.VoiceError` if there are no words and the template must not
        be used instead. That is an infrastructure failure, never the agent's fault.
        """
        ...

    async def prepare(self, utterance: Utterance) -> None:
        """Make the words of an utterance that may be asked for later, without a time limit; raises as :meth:`say`."""
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
        """Do nothing: the template text exists already."""

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""
