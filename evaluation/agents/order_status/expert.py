"""The expert for STATUS: lists the orders, asks where the customer's words fit several, reads the one they mean."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, call, one_at_a_time
from ecom_rlve.evaluation.agents.skill import Skill
from ecom_rlve.evaluation.reading import language
from ecom_rlve.evaluation.reading.order_notes import (
    Order,
    OrderNotes,
    days_said,
    holds,
    kept,
    months_said,
    placed_on,
)

_QUESTION = "On which date did you place the order, what was the order total, and which other items were in it?"
_ASKS = 2


class StatusExpert:
    """Plays one STATUS episode."""

    def __init__(self, skill: Skill | None = None) -> None:
        self._skill = skill or Skill()
        self._notes = OrderNotes()
        self._text = ""
        self._read: dict[str, Order] = {}
        self._asked = 0
        self._has_guessed = False

    def act(self, result: StepResult) -> Action:
        """Return the next action."""
        observation = result.observation
        self._text += f"\n{observation.user_message}"
        for answer in observation.tool_results:
            self._notes.learn(answer.result)
            if answer.name == "order_get" and answer.result:
                self._read[answer.result["order_id"]] = answer.result
        return one_at_a_time(self._decide(observation.turns_left), result.metadata.style)

    def _decide(self, turns_left: int) -> Action:
        page = self._notes.next_page
        if page is not None and turns_left > 1:
            return {"tool_calls": [page]}
        candidates = self._candidates()
        if len(candidates) > 1 and self._skill.asks and self._asked < _ASKS and turns_left > 2:
            self._asked += 1
            return {"assistant_message": _QUESTION}
        if not candidates:
            return {"answer": {"done": True}}
        if self._skill.guesses:
            is_proposal = not self._has_guessed and turns_left > 1
            self._has_guessed = True
            return {"answer": {"done": not is_proposal, **_answer({**candidates[0], "status": "delivered"})}}
        order = self._read.get(candidates[0]["order_id"])
        if order is None and turns_left > 1:
            return {"tool_calls": [call("order_get", order_id=candidates[0]["order_id"])]}
        return {"answer": {"done": True, **_answer(order or candidates[0])}}

    def _candidates(self) -> list[Order]:
        """Return the orders that the customer may mean; without comparing, the newest with a thing they named."""
        orders = self._notes.orders
        title = language.quoted(self._text)
        things = self._notes.things_named(self._text) if title is None else self._things_beside(title)
        by_things: list[Callable[[Order], bool]] = [partial(holds, name=thing) for thing in things]
        if title is not None:
            by_things.insert(0, lambda order: title in order["titles"])
        if not self._skill.compares:
            return kept(orders, by_things[:1])[:1]
        if not self._skill.filters:
            return kept(orders, by_things)[:1]
        days, months = days_said(self._text), months_said(self._text)
        totals = language.prices(self._text)
        by_day = [lambda order: (placed_on(order).day, placed_on(order).month) in days] if days else []
        by_month = [lambda order: placed_on(order).month in months] if months else []
        by_total = [lambda order: order["total"] in totals] if totals else []
        return kept(orders, [*by_total, *by_day, *by_month, *by_things])

    def _things_beside(self, title: str) -> list[str]:
        return self._notes.things_named(self._text.replace(title, ""))


def _answer(order: dict[str, Any]) -> dict[str, Any]:
    return {
        "selected_order_id": order["order_id"],
        "order_status": order.get("status"),
        "eta_date": order.get("delivered", order.get("eta")),
    }
