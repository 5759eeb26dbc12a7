"""What all goals have in common: slots, the customer's review of the work, the verifier's verdict.

Each environment has a goal class of its own; these parts are the same for all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from ecom_rlve.envs.language.acts import Fact


@dataclass(frozen=True, slots=True)
class Slot:
    """One fact of a goal that the customer can say."""

    item: int
    """Position of the wanted item it belongs to."""
    fact: Fact
    is_essential: bool = False
    """Always said in the first message, never left out; told again when asked for."""
    named_by: Slot | None = None
    """The slot that introduces what this one is about: the need for a kind of thing introduces the wishes for it. The
    first message never tells this slot without that one, and an answer with this one tells that one too. None: this
    slot needs no introduction."""
    is_on_request: bool = False
    """Nobody needs it to find out what is wanted: the customer tells it when asked, never in the first message, and it
    does not count as left out."""

    @property
    def name(self) -> str:
        """``brand``, ``color``, …, ``price``, ``quantity`` or ``variant``."""
        return self.fact.slot


@dataclass(frozen=True, slots=True)
class Review:
    """What the customer notices when they look at what the agent has done so far."""

    wrong: tuple[Slot, ...] = ()
    """Slots that the work so far does not meet, in goal order."""
    stray: bool = False
    """The work holds something that matches nothing wanted."""
    complete: bool = False
    """Nothing is wrong, stray or missing."""
    hides_unsaid: bool = False
    """The review is of proposed ids: the customer does not mention wrong slots that were never said (SPEC §7)."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verifier's judgement."""

    r_task: Fraction
    """In [-1, 1]; exact."""
    correct: bool
    """The task's own success test (SPEC §6), before ids that were never shown are looked at."""
    output_ids: tuple[str, ...] = field(default=())
    """Product ids in the agent's output: answer, cart, exchanges (SPEC §4)."""
    share: Fraction | None = None
    """Share of correct intents in a journey; None elsewhere."""
