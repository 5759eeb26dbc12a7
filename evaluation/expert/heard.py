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
    """By slot; of several facts of one slot the last."""
    told: list[SaidFact] = field(default_factory=list)
    """Every fact, in the order in which they were last said."""
    free: set[str] = field(default_factory=set)
    """Names of what any value of will do."""

    def latest(self) -> list[SaidFact]:
        """Return of every slot what was said last about each attribute: what must be the same holds several."""
        return list({(fact.slot, fact.attribute): fact for fact in self.told}.values())

    def take(self, facts: Sequence[SaidFact]) -> None:
        """Take in what was said of the thing."""
        self.facts |= {fact.slot: fact for fact in facts}
        self.told = [*(fact for fact in self.told if fact not in facts), *facts]


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
                self.items.setdefault(said.singular, HeardItem(said.singular, said.plural)).take(said.facts)
            if act.kind == "no_preference":
                self.free.update(act.attributes if not act.items else ())
                for said in act.items:
                    self.items[said.singular].free.update(act.attributes)
            elif act.kind == "dont_know":
                self.unknown.update(act.attributes)


class ActsNotDisclosedError(ValueError):
    """The server does not tell the customer's acts, without which a scripted agent is deaf."""


def acts_of(result: StepResult) -> list[SaidAct]:
    """Return the acts of the customer's latest message.

    Raises:
        ActsNotDisclosedError: the server does not disclose them.
    """
    if result.metadata.acts is None:
        raise ActsNotDisclosedError(
            "this agent hears acts: start the server with ECOM_RLVE_DISCLOSE_ACTS=true (for judging only)"
        )
    return result.metadata.acts
