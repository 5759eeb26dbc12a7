"""What the text of an episode has said so far: the customer's messages and the results of tools, nothing else."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ecom_rlve.evaluation.agent import call
from ecom_rlve.models import Observation, ToolResult
from ecom_rlve.training.learning.matching import words_in
from ecom_rlve.training.learning.policy import Candidate, bag_of_words

Sent = dict[str, Any]


class Notebook:
    """The notes of one episode. An environment's own notes extend :meth:`take` and :meth:`offers`."""

    def __init__(self, opening: Observation) -> None:
        self.first = opening.user_message
        """The customer's first message."""
        self.said: list[str] = []
        """All that the customer said."""
        self.budget = opening.tool_budget or 1
        """Calls of a turn."""
        self.asked: Counter[str] = Counter()
        """How often each thing was asked for."""
        self._looks: set[str] = set()
        self.errors = 0
        """Calls that were refused."""
        self.turns_left = self.calls_left = 0
        self.latest = ""
        """What the customer said last; empty if they kept silent."""
        self._words = bag_of_words(words_in(self.first))
        self.read(opening)

    def read(self, seen: Observation) -> None:
        """Take in an observation."""
        self.turns_left, self.calls_left = seen.turns_left, seen.tool_calls_left
        self.latest = seen.user_message
        if seen.user_message:
            self.said.append(seen.user_message)
        for result in seen.tool_results:
            self.errors += result.error is not None
            self.take(result)

    @property
    def text(self) -> str:
        """All that the customer said, as one text."""
        return " \n ".join(self.said)

    def note(self, chosen: Candidate) -> None:
        """Take in what was decided."""
        self._looks.add(_look_of(chosen) or "nothing")
        self.asked.update(chosen.asks)

    def take(self, result: ToolResult) -> None:
        """Take in the result of a call."""

    def offers(self) -> list[Candidate]:
        """Return what can be done now, also what was done before; never without a question or an answer."""
        raise NotImplementedError

    def fresh_offers(self) -> list[Candidate]:
        """Return what can be done now, without looks at what was looked at: they would show the same again."""
        return [each for each in self.offers() if _look_of(each) not in self._looks]

    def state(self) -> tuple[str, ...]:
        """Return features of the situation."""
        return (
            f"turns:{min(self.turns_left, 4)}",
            f"calls:{min(self.calls_left, 2)}",
            f"news:{bool(self.latest)}",
            f"last:{self.turns_left <= 1},{self.calls_left <= 0}",
        )

    def words(self) -> tuple[str, ...]:
        """Return the customer's first message as a bag of words."""
        return self._words


_CHANGES = ("cart_add", "cart_set_quantity", "cart_remove", "return_initiate", "return_exchange")
"""Tools that do something; all others only show something."""


def _look_of(candidate: Candidate) -> str:
    """Return what a candidate looks at; empty if it does, says or answers something."""
    calls = candidate.action.get("tool_calls", ())
    return "" if not calls or any(each["name"] in _CHANGES for each in calls) else repr(calls)


def use(name: str, **args: Any) -> Sent:
    """Return an action of one call that leaves the turn open."""
    return {"tool_calls": [call(name, **args)], "end_turn": False}


def say(message: str) -> Sent:
    """Return an action that says something to the customer."""
    return {"assistant_message": message}


def submit(**answer: Any) -> Sent:
    """Return the final answer."""
    return {"answer": {"done": True, **answer}}


def how_many(number: int, most: int = 3) -> str:
    """Return a number as a feature, alike from ``most`` on."""
    return str(number) if number < most else f"{most}+"


def question(notes: Notebook, skill: str, topic: str, message: str, *features: str) -> Candidate:
    """Return a question as a candidate: how often its topic was asked before is a feature."""
    return Candidate(skill, say(message), (f"again:{how_many(notes.asked[topic], 2)}", *features), (topic,))
