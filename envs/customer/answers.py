"""Resolves questions against what the customer has in mind: what is told, and what cannot be (SPEC §7, Hearing).

That something is free or unknown is only said where the whole set of topics that a question names holds no slot.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.envs.customer.hearing.topics import Question, is_about
from ecom_rlve.envs.goal import Slot

MOST_FACTS = 3
"""Most facts that are told in answer to one turn's questions (SPEC §7). The same number sets how many asking turns an
intent excuses: left-out slots / 3, rounded up (SPEC §2.3)."""
MOST_QUESTIONS = 6
"""Questions of one turn that are heard; the rest count as not asked (SPEC §7)."""

OF_GOODS = (*ATTRIBUTES, "price", "brand", "rating", "ship_days", "quantity", "variant")
"""What a question may be for where goods are chosen, in mind or not."""

Named = tuple[int | None, str]
"""An item (None: none in particular) and what is asked of it."""
_OF_RETURN = frozenset(("reason", "method"))


def item_of(slot: Slot, of_all: Collection[str]) -> int | None:
    """Return the item that a question for a slot must mean; None: any.

    A kind in ``of_all`` is about all items together. What a return is for, and how it is paid, no other item has, so
    naming one that is called the same ("do you want a new lamp, and what was wrong with it?") changes nothing.
    """
    return None if slot.name in of_all or slot.name in _OF_RETURN else slot.item


@dataclass(frozen=True, slots=True)
class Mind:
    """What a customer can tell, and has told."""

    slots: Sequence[Slot]
    said: Collection[Slot]
    of_all: Collection[str]
    """Kinds of facts that are about all items together."""
    for_more: Collection[str]
    """Kinds of facts that are asked for once more to be told others."""
    whole: Collection[int]
    """Items that stand for all the others together."""

    def meant(self, question: Question) -> list[tuple[str, list[Slot]]]:
        """Return the topics of a question that hold slots, each with them."""
        about = [slot for slot in self.slots if is_about(item_of(slot, self.of_all), question.item, self.whole)]
        named = [(topic, [slot for slot in about if _is_named(slot, topic)]) for topic in question.topics]
        return [(topic, slots) for topic, slots in named if slots]

    def narrowed(self, question: Question) -> Named:
        """Return what a question is for by its words, with the item that it is limited to."""
        item, name = question.item, question.topics[0]
        return (None if item in self.whole or name in self.of_all else item), name


@dataclass(slots=True)
class Resolved:
    """What one turn's questions come to."""

    told: list[Slot] = field(default_factory=list)
    """At most :data:`MOST_FACTS`: unsaid ones before said ones, then in the order asked."""
    nothing_more: list[Named] = field(default_factory=list)
    """Asked for more of a kind of which everything was told."""
    not_in_mind: list[Named] = field(default_factory=list)
    """No topic of the set holds a slot."""


def resolved(questions: Sequence[Question], mind: Mind) -> Resolved:
    """Resolve one turn's questions, the first six of them."""
    found = Resolved()
    fresh: list[Slot] = []
    known: list[Slot] = []
    for question in questions[:MOST_QUESTIONS]:
        meant = mind.meant(question)
        unsaid = next((new for _, slots in meant if (new := [slot for slot in slots if slot not in mind.said])), [])
        if unsaid:
            fresh += unsaid
            continue
        if question.topics[0] in mind.for_more:
            found.nothing_more.append(mind.narrowed(question))
        elif meant:
            known += meant[0][1]
        else:
            found.not_in_mind.append(mind.narrowed(question))
    found.told = list(dict.fromkeys((*fresh, *known)))[:MOST_FACTS]
    return found


def _is_named(slot: Slot, topic: str) -> bool:
    return topic in (slot.name, slot.fact.constraint.attribute)
