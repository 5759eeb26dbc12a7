"""The expert for STATUS: lists the orders, asks for what tells several apart, reads the one that is meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, call
from ecom_rlve.evaluation.expert.heard import acts_of
from ecom_rlve.evaluation.expert.inquiry import Inquiry
from ecom_rlve.evaluation.expert.orders import Order, OrderHistory, cents, placed, without_article
from ecom_rlve.evaluation.expert.skill import Skill
from ecom_rlve.models import SaidAct, Style

_QUESTIONS = {
    # An order holds several things, which are all told where they are asked for first.
    "other_items": "Which other items were in the order?",
    "order_date": "On which date did you place it?",
    "order_total": "What was the order total?",
}
_TOLD_BY = {"order_date": "day", "order_total": "total"}
"""What a reference to the order may tell of a topic."""
_IS_TRUE: Mapping[str, Callable[[Order, Any], bool]] = {
    "category": lambda order, category: category in order["categories"],
    "title": lambda order, title: title in order["titles"],
    "day": lambda order, day: placed(order).day == int(day),
    "month": lambda order, month: placed(order).month == int(month),
    "order_date": lambda order, ordinal: placed(order).toordinal() == ordinal,
    "total": lambda order, total: cents(order["total"]) == int(total),
    "order_total": lambda order, total: cents(order["total"]) == total,
}
"""Whether what the customer said is true of a listed order, by what it is about."""
_THINGS = ("category", "title")

Clue = tuple[str, Any]
"""A key of :data:`_IS_TRUE` with what was said of it."""


class StatusExpert:
    """Plays one STATUS episode."""

    def __init__(self, skill: Skill | None = None) -> None:
        self._skill = skill or Skill()
        self._history = OrderHistory()
        self._inquiry = Inquiry(several=("other_items",))
        self._clues: list[Clue] = []
        self._nouns: list[str] = []
        """Of things in the order."""
        self._has_guessed = False

    def act(self, result: StepResult) -> Action:
        """Return the next action."""
        observation = result.observation
        for shown in observation.tool_results:
            self._history.take(shown.name, shown.result)
        self._hear(acts_of(result))
        return self._decide(observation.turns_left, result.metadata.style)

    def _hear(self, acts: list[SaidAct]) -> None:
        self._inquiry.hear(acts)
        for act in acts:
            facts = [fact for item in act.items for fact in item.facts]
            self._clues += [(name, said) for name, said in act.says.items() if name in _IS_TRUE]
            self._clues += [(fact.slot, fact.value) for fact in facts if fact.slot in _IS_TRUE]
            self._nouns += [act.says["item"]] if "item" in act.says else []
            self._nouns += [without_article(str(fact.value)) for fact in facts if fact.attribute == "items_ordered"]

    def _decide(self, turns_left: int, style: Style) -> Action:
        questions = self._questions()
        page = self._history.next_page()
        if page is not None and turns_left > 1:
            return self._inquiry.look([page], questions, style)
        candidates = self._candidates()
        if len(candidates) > 1 and turns_left > 2 and self._inquiry.open(questions):
            return self._inquiry.look([], questions, style)
        if not candidates:
            return {"answer": {"done": True}}
        order_id = candidates[0]["order_id"]
        if self._skill.guesses:
            is_final = self._has_guessed or turns_left == 1
            self._has_guessed = True
            return {"answer": {"done": is_final, **_answer({**candidates[0], "status": "delivered"})}}
        if order_id not in self._history.read and (turns_left > 1 or style == "tool"):
            return self._inquiry.look([call("order_get", order_id=order_id)], {}, style)
        return {"answer": {"done": True, **_answer(self._history.read.get(order_id, candidates[0]))}}

    def _questions(self) -> dict[str, str]:
        if not self._skill.asks:
            return {}
        told = {name for name, _ in self._clues}
        return {topic: text for topic, text in _QUESTIONS.items() if _TOLD_BY.get(topic) not in told}

    def _candidates(self) -> list[Order]:
        """Return the orders that may be meant; a weaker agent takes the newest with a thing, or all, that was named."""
        things = [("category", self._history.category_of(noun)) for noun in self._nouns]
        things += [clue for clue in self._clues if clue[0] in _THINGS]
        if not self._skill.compares:
            return self._true_of(things[:1])[:1]
        if not self._skill.filters:
            return self._true_of(things)[:1]
        return self._true_of([*things, *self._clues])

    def _true_of(self, clues: list[Clue]) -> list[Order]:
        return [order for order in self._history.listed if all(_IS_TRUE[name](order, said) for name, said in clues)]


def _answer(order: dict[str, Any]) -> dict[str, Any]:
    return {
        "selected_order_id": order["order_id"],
        "order_status": order.get("status"),
        "eta_date": order.get("delivered", order.get("eta")),
    }
