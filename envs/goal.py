"""What a customer can say of a goal: slots, and how they stand.

Environments make goals of their own shape; these parts are common to all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from ecom_rlve.envs.language.acts import Fact


@dataclass(frozen=True, slots=True)
class Slot:
    """One fact of a goal that the customer could say."""

    item: int
    """Position of the wanted item it belongs to."""
    fact: Fact
    is_essential: bool = False
    """Said in the first message in any case: never left out, told again when asked for."""
    named_by: Slot | None = None
    """The slot by which what this one is about becomes known (the need for that thing): it is not said at first without
    it, and telling this one tells that one; None: itself."""

    @property
    def naming(self) -> Slot:
        """The slot by which what this one is about becomes known."""
        return self.named_by or self

    @property
    def name(self) -> str:
        """``brand``, ``color``, …, ``price``, ``quantity`` or ``variant``."""
        return self.fact.slot


@dataclass(frozen=True, slots=True)
class Review:
    """What the customer sees when they look at what the agent has done so far."""

    wrong: tuple[Slot, ...] = ()
    """Slots of wanted items that are wrong as things stand, in goal order."""
    stray: bool = False
    """Something there matches nothing wanted."""
    complete: bool = False
    """Nothing is wrong, stray or missing."""
    hides_unsaid: bool = False
    """A reaction to proposed ids: wrong slots that were never said are not even refused (SPEC §7)."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verifier's finding."""

    r_task: Fraction
    """In [-1, 1]; exact."""
    correct: bool
    """The task's own success test (SPEC §6), before unseen ids are looked at."""
    output_ids: tuple[str, ...] = field(default=())
    """Product ids in the agent's output: answer, cart, exchanges (SPEC §4)."""
    share: Fraction | None = None
    """Share of correct intents in a journey; None elsewhere."""
