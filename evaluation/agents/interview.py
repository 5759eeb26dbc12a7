"""Asking a customer: what to say, and what an answer leaves open.

Of the questions of one turn at most three facts are told, in the order in which they were asked for (SPEC §7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ecom_rlve.evaluation.agents.heard import Heard
from ecom_rlve.models import SaidAct, SaidFact

FACTS_PER_TURN = 3


class Topic(NamedTuple):
    """What can be asked for."""

    name: str = ""
    """The slot or the attribute; empty: whatever was left out."""
    singular: str = ""
    """The thing that it is asked of; empty: of all of them."""
    plural: str = ""

    def covers(self, noun: str, fact: SaidFact) -> bool:
        """Tell whether a fact about a thing belongs to the topic."""
        return self.singular in ("", noun) and self.name in ("", fact.slot, fact.attribute)


ANYTHING = Topic()
"""Whatever was left out, of whatever thing."""
_LABELS: Mapping[str, str] = {"ship_days": "delivery time", "color": "colour", "flavor": "flavour"}
_OF_ALL: Mapping[str, str] = {
    "": "Is there anything else that I should know?",
    "quantity": "How many do you want?",
    "priority": "What matters most to you?",
    "compatibility": "What must stay the same?",
    "need": "Which other things do you need?",
    "budget": "What is your total budget?",
    "requirement": "What requirements do you have?",
}
_OF_ONE: Mapping[str, str] = {
    "": "What else should the {singular} be like?",
    "quantity": "How many {plural} do you want?",
    "variant": "Which variant of the {singular} do you want?",
    "requirement": "What requirements do you have for the {singular}?",
}


class Interview:
    """What was asked in one errand, and what need not be asked again."""

    def __init__(self) -> None:
        self.closed: set[Topic] = set()
        """Of these nothing is left to be told."""
        self._pending: tuple[Topic, ...] = ()

    def ask(self, topics: Sequence[Topic]) -> str:
        """Return the questions in words; the next message is taken for the answer."""
        self._pending = tuple(topics)
        return " ".join(_sentence(topic) for topic in topics)

    def take(self, acts: Sequence[SaidAct], heard: Heard) -> None:
        """Learn from the answer what is closed; ``heard`` is what was known before it."""
        told = [
            (item.singular, fact) for act in acts if act.kind == "answer" for item in act.items for fact in item.facts
        ]
        room = FACTS_PER_TURN
        for topic in self._pending:
            found = [(noun, fact) for noun, fact in told if topic.covers(noun, fact)]
            is_news = any(noun not in heard.items or fact not in heard.items[noun].told for noun, fact in found)
            if is_news and (len(found) >= room or not topic.name):
                break
            self.closed.add(topic)
            room -= max(1, len(found))
            if room <= 0:
                break
        self._pending = ()


def _sentence(topic: Topic) -> str:
    label = _LABELS.get(topic.name, topic.name.replace("_", " "))
    known = _OF_ONE if topic.singular else _OF_ALL
    generic = f"Which {label} should the {{singular}} have?" if topic.singular else f"Which {label} do you want?"
    return known.get(topic.name, generic).format(singular=topic.singular, plural=topic.plural or topic.singular)
