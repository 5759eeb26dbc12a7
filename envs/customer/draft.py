"""A reply in the making."""

from __future__ import annotations

from dataclasses import dataclass, field

from ecom_rlve.envs.customer.hearing.topics import Question
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind

_DISAPPROVING = {ActKind.CORRECT, ActKind.SKIP, ActKind.REJECT}


@dataclass(slots=True)
class Draft:
    """The acts so far, and what speaks for and against the agent in them."""

    acts: list[Act] = field(default_factory=list)
    told_new: bool = False
    fell_back: bool = False
    revision: Act | None = None
    """It is said after everything else."""
    revised: tuple[Slot, ...] = ()
    confirmed: bool = False
    named_nothing: bool = False
    asked_back: bool = False
    offered: tuple[Question, ...] = ()
    is_tiresome: bool = False

    @property
    def excuses_nothing(self) -> bool:
        """Whether it disapproves of something, or answers a question that named nothing (SPEC §2.3)."""
        return self.named_nothing or any(act.kind in _DISAPPROVING for act in self.acts)
