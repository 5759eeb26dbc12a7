"""What a customer wants done: the intent that was drawn, and the errand that reviews, judges and solves it.

An :class:`Intent` belongs to one episode and holds what was drawn. An :class:`Errand` holds no state; the environment
that the intent comes from implements it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from ecom_rlve.envs.about import About
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.goal import Review, Slot, Verdict
from ecom_rlve.envs.language.acts import Act, ActKind, Mention, SlotKind
from ecom_rlve.envs.world.world import World
from ecom_rlve.streams import Streams

Goal = TypeVar("Goal")


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing that a goal is about, and the nouns for it."""

    singular: str
    plural: str
    category: str
    """Leaf category that it belongs to; empty if it belongs to none."""
    is_whole: bool = False
    """It stands for all the others together: a question that names it may be about any of them."""


@dataclass(frozen=True, slots=True)
class Change:
    """What the customer wants instead: of something that has sold out, or because they have changed their mind.

    It is a proposal: nothing changes until :meth:`Intent.apply` is called.
    """

    act: Act
    """What the customer says."""
    goal: Any
    """The new goal."""
    slots: tuple[Slot, ...]
    """The new slots: what the customer can say after the change."""


class Stockout(ABC, Generic[Goal]):
    """What sells out during an intent, and what the customer wants instead (SPEC §6)."""

    leaves_choice: ClassVar[bool] = False
    """The customer leaves it to the agent what to take instead."""

    @abstractmethod
    def sell(self, intent: Intent[Goal]) -> None:
        """Let things sell out that were shown. Called after each batch of tool calls but the one before the answer."""

    def missing(self, intent: Intent[Goal]) -> int | None:  # noqa: ARG002 - every implementation gets it, this one decides without
        """Return the position of a wanted item that sold out and that the customer has to replace; None: there is none.

        None too where the choice is left to the agent.
        """
        return None

    def may_be_meant(self, intent: Intent[Goal], rows: list[int]) -> list[int]:  # noqa: ARG002 - every implementation gets it, this one decides without
        """Return those of ``rows``, shown products, that an agent may mean who says that something is sold out."""
        return rows

    def reported(self, intent: Intent[Goal], rows: Collection[int], text: str) -> int | None:  # noqa: ARG002 - every implementation gets it, this one decides without
        """Return the position of the missing item that a report about ``rows`` is about; None if it is about none.

        ``text``: the sentences of the report, casefolded.
        """
        return None

    def settled(self, intent: Intent[Goal], item: int) -> Change:
        """Return what the customer wants instead of a missing item; raises ``LookupError`` if nothing is replaced."""
        raise LookupError(f"{intent.errand.about.id} replaces nothing, asked for item {item}")


class Revision(ABC, Generic[Goal]):
    """A change of mind: what the customer revises, drawn with the goal (SPEC §6, Change of mind)."""

    def __init__(self, turn: int, slot: Slot) -> None:
        self.turn = turn
        """It falls in the reply to this closed turn of the intent, counted from 1, at the earliest."""
        self.slot = slot
        """What is revised. It can be only once it was said."""

    @abstractmethod
    def change(self, intent: Intent[Goal]) -> Change | None:
        """Return what the customer wants now; None if what they would revise is no longer wanted."""

    @abstractmethod
    def turns_after(self, intent: Intent[Goal], change: Change) -> int:
        """Return how many turns of its own an ideal agent takes at most from the change to its answer."""


@dataclass(slots=True)
class Intent(Generic[Goal]):
    """One drawn errand of an episode: the hidden goal, the world around it, and what the customer can say."""

    errand: Errand[Goal]
    """Reviews, judges and solves this intent."""
    goal: Goal
    """Replaced when a :class:`Change` is applied."""
    world: World
    subjects: tuple[Subject, ...]
    slots: tuple[Slot, ...]
    """The facts of the goal that the customer can say, in goal order."""
    streams: Streams
    """Random streams of the customer in this intent."""
    opening: Callable[[Intent[Goal], Collection[Slot]], Act] | None = None
    """Returns the first act, given the slots that it tells; None: the first act lists every subject with its facts."""
    stockout: Stockout[Goal] | None = None
    """What may sell out; None if nothing can."""
    revision: Revision[Goal] | None = None
    """How the customer changes their mind; None if they do not. It stays after it has fallen."""
    unknown: tuple[SlotKind, ...] = ()
    """Kinds of facts that a question may name but that this customer does not remember."""
    kinds: tuple[SlotKind, ...] = ()
    """All kinds of facts that a question may name; empty: those of ``slots`` and ``unknown``."""
    fixed: tuple[int, ...] = ()
    """Positions of subjects about which there is nothing to choose: an order, a purchase, a question. If the agent asks
    for a fact of them that is no slot, the customer does not know it; for other subjects any value will do."""
    is_interrupted: bool = False
    """The customer turns to the next intent before this one is done."""
    redraws: int = 0
    """How often products were drawn again until the goal could be reached and its facts fit nothing else."""

    def opened(self, said: Collection[Slot]) -> Act:
        """Return the first act: what is essential, and the slots ``said``."""
        if self.opening is not None:
            return self.opening(self, said)
        return Act(ActKind.OPEN, mentions_of(self, said))

    def leaves_free(self, item: int | None) -> bool:
        """Tell whether any value will do for an attribute that is no slot of ``item`` (None: of some item)."""
        if item is None:
            return any(at not in self.fixed for at in range(len(self.subjects)))
        return item not in self.fixed

    def apply(self, change: Change) -> None:
        """Make a change the goal."""
        self.goal, self.slots = change.goal, change.slots


class Errand(ABC, Generic[Goal]):
    """Reviews, judges and solves intents of one kind. Instances hold no state, as for ``Environment``."""

    about: ClassVar[About]

    @abstractmethod
    def review(self, intent: Intent[Goal], proposal: Answer | None) -> Review:
        """Return what the customer notices in the work so far and in a proposed answer (``done=false``; None: none)."""

    @abstractmethod
    def verify(self, intent: Intent[Goal], answer: Answer | None) -> Verdict:
        """Judge the state at the end; ``answer`` is None if the agent gave none."""

    @abstractmethod
    def solve(self, intent: Intent[Goal]) -> dict[str, Any]:
        """Return the next action of an agent that knows the goal; it acts through the tools like any other."""

    @abstractmethod
    def goal_json(self, intent: Intent[Goal]) -> dict[str, Any]:
        """Return the goal as readable JSON, to be shown after the end of the episode."""


def mentions_of(intent: Intent[Any], said: Collection[Slot]) -> tuple[Mention, ...]:
    """Return every subject, each with its facts among the slots ``said``."""
    return tuple(
        Mention(subject.singular, subject.plural, facts_of_item(intent.slots, item, said))
        for item, subject in enumerate(intent.subjects)
    )


def facts_of_item(slots: Sequence[Slot], item: int, said: Collection[Slot]) -> tuple[Any, ...]:
    """Return the facts of an item among the slots ``said``, in goal order."""
    return tuple(slot.fact for slot in slots if slot.item == item and slot in said)
