"""What a scripted agent has heard: the acts of the customer's messages, kept by item and slot (SPEC §10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ecom_rlve.client import StepResult
from ecom_rlve.models import SaidAct, SaidFact


@dataclass(slots=True)
class HeardItem:
    """One thing that the customer spoke of, with the latest that was said of it."""

    singular: str
    plural: str
    facts: dict[str, SaidFact] = field(default_factory=dict)
    """By slot."""
    free: set[str] = field(default_factory=set)
    """Names of what any value of will do."""


@dataclass(slots=True)
class Heard:
    """Everything that was said in one errand."""

    items: dict[str, HeardItem] = field(default_factory=dict)
    """By the noun, in the order in which they were first spoken of."""
    says: dict[str, str] = field(default_factory=dict)
    """What the opening said beside facts."""
    free: set[str] = field(default_factory=set)
    """Names of what any value of will do, whichever item it is about."""
    unknown: set[str] = field(default_factory=set)
    """Names of what the customer does not know."""
    latest: tuple[SaidAct, ...] = ()

    def hear(self, acts: Sequence[SaidAct]) -> None:
        """Take in the acts of one message."""
        self.latest = tuple(acts)
        for act in acts:
            self.says |= act.says
            for said in act.items:
                item = self.items.setdefault(said.singular, HeardItem(said.singular, said.plural))
                item.facts |= {fact.slot: fact for fact in said.facts}
            if act.kind == "no_preference":
                self.free.update(act.attributes if not act.items else ())
                for said in act.items:
                    self.items[said.singular].free.update(act.attributes)
            elif act.kind == "dont_know":
                self.unknown.update(act.attributes)

    def has_heard(self, kind: str) -> bool:
        """Tell whether the latest message holds an act of a kind (``confirm``, ``reject`` …)."""
        return any(act.kind == kind for act in self.latest)


def acts_of(result: StepResult) -> list[SaidAct]:
    """Return the acts of the customer's latest message.

    Raises:
        ValueError: the server does not disclose acts.
    """
    if result.metadata.acts is None:
        raise ValueError("this agent hears acts: start the server with ECOM_RLVE_DISCLOSE_ACTS=true (for judging only)")
    return result.metadata.acts
