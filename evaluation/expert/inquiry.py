"""What an agent asks the customer: each topic until it is told, or until they do not know it or do not mind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ecom_rlve.evaluation.agent import Action
from ecom_rlve.models import SaidAct, SaidFact, Style

ANYTHING = "anything"
"""The topic of a question that names none, settled where nothing is left to tell. It is heard only alone."""
NOTHING_ELSE = "nothing else"
"""What is told of a topic of which there may be more, where everything was told."""
_QUESTIONS_HEARD = 6
"""Questions of one turn that the customer takes in (SPEC §7)."""
_TIMES = 3
"""That one topic is asked at most: of several asked at once three are told."""


class Inquiry:
    """The topics of one errand and how far they are settled. A topic is the slot of a fact."""

    def __init__(self, several: Collection[str] = ()) -> None:
        """``several`` are topics of which there may be more to tell, until an answer brings nothing new."""
        self._several = several
        self._told: set[tuple[str, str]] = set()
        self._settled: set[str] = set()
        self._asked: Counter[str] = Counter()

    def hear(self, acts: Sequence[SaidAct]) -> None:
        """Take in the acts of a message."""
        for act in acts:
            self._take([fact for item in act.items for fact in item.facts])
            if act.kind in ("dont_know", "no_preference"):
                self._settled.update(act.attributes)
            elif act.kind == "nothing_left":
                self._settled.add(ANYTHING)

    def _take(self, facts: Sequence[SaidFact]) -> None:
        told = {(fact.slot, str(fact.value)) for fact in facts}
        news = {slot for slot, value in told - self._told if value != NOTHING_ELSE}
        self._told |= told
        self._settled.update(slot for slot, _ in told if slot not in self._several or slot not in news)

    def open(self, topics: Iterable[str]) -> list[str]:
        """Return the topics that are still worth a question, in their order."""
        return [topic for topic in topics if topic not in self._settled and self._asked[topic] < _TIMES]

    def ask(self, questions: Mapping[str, str]) -> str:
        """Return the questions about open topics that fit into one turn, as one message; "" where none is open."""
        topics = self.open(questions)[:_QUESTIONS_HEARD]
        self._asked.update(topics)
        return " ".join(questions[topic] for topic in topics)

    def look(self, calls: list[dict[str, Any]], questions: Mapping[str, str], style: Style) -> Action:
        """Return calls that change nothing, together with questions: the turn that they take is used for both.

        A tool at a time, the questions wait until there is nothing left to look at.
        """
        if style == "tool" and calls:
            return {"tool_calls": calls[:1], "end_turn": False}
        return {"assistant_message": self.ask(questions), "tool_calls": calls}
