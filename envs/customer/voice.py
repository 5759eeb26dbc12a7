"""How the customer's acts become words: what a voice is given, what it gives back, and how that came about.

Code picks the acts and writes the template text first; a voice may only word the same acts otherwise, and what it says
has passed a check or is the template (SPEC §7).
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
"""Returns why a wording does not pass, None where it does."""


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
    make_check: Callable[[], Check] = field(compare=False, repr=False)
    """Builds the check; called at most once, and never where the template speaks. Must be called before the
    episode's next step, since what is unsaid changes with it."""

    @cached_property
    def check(self) -> Check:
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

        Raises :class:`~ecom_rlve.envs.customer.model.errors.VoiceError` where there are none and the template may not
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
