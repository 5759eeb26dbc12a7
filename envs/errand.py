"""One thing that a customer wants done: what was drawn for it, and how it is reviewed, judged and solved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from ecom_rlve.envs.about import About
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.goal import Review, Slot, Verdict
from ecom_rlve.envs.language.acts import Act, ActKind, Mention, SlotKind
from ecom_rlve.envs.world.stockout import StockoutPlan
from ecom_rlve.envs.world.world import World
from ecom_rlve.streams import Streams

Goal = TypeVar("Goal")


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing a goal is about, as sentences name it."""

    singular: str
    plural: str
    category: str
    """Leaf category whose values its words are drawn from."""
    is_whole: bool = False
    """It is all the others together: named beside a question about the others, it narrows nothing."""


@dataclass(frozen=True, slots=True)
class Change:
    """What the customer settles for, told that a wanted thing is sold out. Nothing has changed before it is applied."""

    act: Act
    """What they say."""
    goal: Any
    """The goal from now on."""
    slots: tuple[Slot, ...]
    """What they could say from now on."""


class Stockout(ABC, Generic[Goal]):
    """What may sell out while an intent is worked on, and what the customer does about it (SPEC §6)."""

    def __init__(self, plan: StockoutPlan) -> None:
        self.plan = plan

    @abstractmethod
    def sell(self, intent: Intent[Goal]) -> None:
        """Let things sell out, after tool results that showed something new or changed the cart."""

    @abstractmethod
    def is_known(self, intent: Intent[Goal]) -> bool:
        """Tell whether some result has shown the agent that a wanted thing is sold out."""

    def missing(self, intent: Intent[Goal]) -> int | None:  # noqa: ARG002 - the protocol's
        """Return the wanted item that has sold out and that the customer must replace, None where there is none."""
        return None

    def settled(self, intent: Intent[Goal], item: int) -> Change:
        """Return what the customer settles for instead of a missing item."""
        raise LookupError(f"{intent.errand.about.id} replaces nothing, asked for item {item}")


@dataclass(slots=True)
class Intent(Generic[Goal]):
    """One drawn errand: the hidden goal, the world it is in, and what the customer could say."""

    errand: Errand[Goal]
    """Whose it is: reviews, judges and solves it."""
    goal: Goal
    """Replaced where the customer settles for something else."""
    world: World
    subjects: tuple[Subject, ...]
    slots: tuple[Slot, ...]
    """Everything the customer could say beside the essential, in goal order."""
    streams: Streams
    """Where its customer's draws come from."""
    opening: Callable[[Intent[Goal], Collection[Slot]], Act] | None = None
    """Returns the first act, given what is not left out; None: every subject with its facts."""
    stockout: Stockout[Goal] | None = None
    """What may sell out; None where nothing can."""
    leaves_stockouts: bool = False
    """Told that a wanted thing is sold out, the customer leaves it to the agent; else they say what to take instead, or
    that it is not."""
    unknown: tuple[SlotKind, ...] = ()
    """Kinds of facts that a question may name and that this customer does not remember."""
    kinds: tuple[SlotKind, ...] = ()
    """Kinds of facts that a question may name although no slot may be of them."""
    fixed: tuple[int, ...] = ()
    """Positions of subjects of which the customer does not know what is no slot; of others any value will do."""
    is_interrupted: bool = False
    """The customer comes to the next intent before this one is done."""
    redraws: int = 0
    """Products drawn again before the goal was reachable and identified."""

    def opened(self, said: Collection[Slot]) -> Act:
        """Return the first act: what is essential, and the slots that were not left out."""
        if self.opening is not None:
            return self.opening(self, said)
        return Act(ActKind.OPEN, mentions_of(self, said))

    def leaves_free(self, item: int | None) -> bool:
        """Tell whether any value of what is no slot of an item, or of any of them, will do."""
        if item is None:
            return any(at not in self.fixed for at in range(len(self.subjects)))
        return item not in self.fixed

    def apply(self, change: Change) -> None:
        """Let what the customer has settled for be the goal."""
        self.goal, self.slots = change.goal, change.slots
        if self.stockout is not None:
            self.stockout.plan.is_settled = True


class Errand(ABC, Generic[Goal]):
    """What a customer asks of a task. Instances hold no state; every method is a function of its arguments."""

    about: ClassVar[About]

    @abstractmethod
    def review(self, intent: Intent[Goal], proposal: Answer | None) -> Review:
        """Return what the customer sees in the work so far, and in an answer that was proposed (``done=false``)."""

    @abstractmethod
    def verify(self, intent: Intent[Goal], answer: Answer | None) -> Verdict:
        """Judge the state at the end; ``answer`` is None where none was given."""

    @abstractmethod
    def solve(self, intent: Intent[Goal]) -> dict[str, Any]:
        """Return the next action of an agent that knows the goal; it acts through the tools like any other."""

    @abstractmethod
    def goal_json(self, intent: Intent[Goal]) -> dict[str, Any]:
        """Return the goal for people, once the episode is over."""


def mentions_of(intent: Intent[Any], said: Collection[Slot]) -> tuple[Mention, ...]:
    """Return every subject with those of its facts that are said."""
    return tuple(
        Mention(subject.singular, subject.plural, facts_of_item(intent.slots, item, said))
        for item, subject in enumerate(intent.subjects)
    )


def facts_of_item(slots: Sequence[Slot], item: int, said: Collection[Slot]) -> tuple[Any, ...]:
    """Return the facts of an item that are said, in goal order."""
    return tuple(slot.fact for slot in slots if slot.item == item and slot in said)
