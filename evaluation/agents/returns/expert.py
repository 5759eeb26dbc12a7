"""The expert for RETURN: finds the line, checks it, asks what it was not told, finds something new, sends it back."""

from __future__ import annotations

from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, call
from ecom_rlve.evaluation.agents.returns.replacement import Replacement
from ecom_rlve.evaluation.agents.returns.request import EXCHANGE, Line, ReturnRequest
from ecom_rlve.evaluation.expert.cards import Card
from ecom_rlve.evaluation.expert.heard import acts_of
from ecom_rlve.evaluation.expert.inquiry import ANYTHING, Inquiry
from ecom_rlve.evaluation.expert.orders import OrderHistory
from ecom_rlve.evaluation.expert.skill import Skill
from ecom_rlve.models import Style, ToolResult

_WHICH = {"order_date": "On which date did you order it?", "order_total": "What was the order total?"}
_WANTED = {
    "replacement": "Do you need a replacement?",
    "reason": "What is the reason for the return?",
    "method": "Which refund method or exchange do you want?",
}
_WHICH_LINE = {"price_paid": "What was the price paid for each?", "units_bought": "What was the quantity?"}
QUESTIONS = {**_WHICH, **_WANTED, **_WHICH_LINE}
"""By the slot of a fact about the thing that goes back, most urgent first."""
_TOLD_AT_ONCE = 3
"""Facts that the customer tells in one reply (SPEC §7)."""
_ON_CARDS = 6
"""Attributes of a kind of thing, as long as no card has shown them."""


class ReturnExpert:
    """Plays one RETURN episode."""

    def __init__(self, skill: Skill | None = None) -> None:
        self._skill = skill or Skill()
        self._history = OrderHistory()
        self._inquiry = Inquiry()
        self._request = ReturnRequest()
        self._is_eligible: dict[str, bool] = {}
        """By id of a line that was checked."""
        self._new: Replacement | None = None
        """None before something is wanted and its category is known."""
        self._sent: list[dict[str, Any]] = []
        """Arguments of the searches whose results are still to come."""
        self._is_done = False
        self._style: Style = "turn"

    def act(self, result: StepResult) -> Action:
        """Return the next action."""
        observation = result.observation
        self._style = result.metadata.style
        for answer in observation.tool_results:
            self._take(answer)
        acts = acts_of(result)
        self._inquiry.hear(acts)
        self._request.hear(acts)
        if self._request.wants_new and self._history.listed:
            noun = self._request.noun
            self._new = self._new or Replacement(noun, self._history.category_of(noun), self._request.wishes)
        action = self._decide(observation.tool_calls_left, observation.turns_left)
        self._sent = [sent["args"] for sent in action.get("tool_calls", ()) if sent["name"] == "catalog_search"]
        return action

    def _take(self, answer: ToolResult) -> None:
        result = answer.result
        self._history.take(answer.name, result)
        if answer.name == "return_check_eligibility" and result:
            self._is_eligible[result["line_id"]] = result["eligible"]
        elif answer.name in ("return_initiate", "return_exchange"):
            self._is_done |= bool(result)
        elif answer.name == "catalog_search" and self._new:
            self._new.take(self._sent.pop(0), result)
        elif answer.name == "catalog_get_product" and self._new and result:
            self._new.take_whole(result["product"])

    def _decide(self, room: int, turns_left: int) -> Action:
        # A tool at a time, the last call of the last turn is for the return itself.
        can_look = turns_left > 1 or (self._style == "tool" and room > 1)
        page = self._history.next_page()
        if page is not None and can_look:
            return self._look([page], turns_left)
        narrows = self._skill.filters
        orders = self._request.orders(self._history, narrows=narrows)
        if not self._skill.compares or not narrows:
            orders = orders[:1]
        lines = self._request.lines(self._history, orders, narrows=narrows)
        unread = [order["order_id"] for order in orders if order["order_id"] not in self._history.read]
        is_unclear = len(lines) > 1 and (len(unread) > max(1, room) or not unread)
        if is_unclear and turns_left > 2 and self._skill.asks and self._inquiry.open((*_WHICH, *_WHICH_LINE)):
            return self._look([], turns_left)
        if len(lines) > 1 and unread and can_look:
            calls = [call("order_get", order_id=order_id) for order_id in unread]
            return self._look((calls + self._looks())[: max(1, room)], turns_left)
        if not lines:
            return {"answer": {"done": True}}
        return self._treat(lines[0], max(1, room) if can_look else 0, turns_left)

    def _treat(self, line: Line, room: int, turns_left: int) -> Action:
        """Check the line, learn what is wanted, and do it; ``room`` is for calls that change nothing."""
        which = {name: line[name] for name in ("order_id", "line_id")}
        selected = {"done": True, **{f"selected_{name}": value for name, value in which.items()}}
        is_eligible = self._is_eligible.get(line["line_id"])
        if is_eligible is False:
            return {"answer": {**selected, "resolution": "not_eligible"}}
        checks = [call("return_check_eligibility", **which)] if is_eligible is None else []
        calls = (checks + self._looks())[:room]
        if calls or (turns_left > 1 and self._inquiry.open(self._questions(turns_left, is_found=True))):
            return self._look(calls, turns_left, is_found=True)
        return self._finish(which, selected)

    def _look(self, calls: list[dict[str, Any]], turns_left: int, *, is_found: bool = False) -> Action:
        return self._inquiry.look(calls, self._questions(turns_left, is_found=is_found), self._style)

    def _looks(self) -> list[dict[str, Any]]:
        """Return the looks for something new; a weaker agent looks once at what there is."""
        if self._new is None:
            return []
        return self._new.looks() if self._skill.filters and self._skill.compares else self._new.browse()

    def _questions(self, turns_left: int, *, is_found: bool) -> dict[str, str]:
        """Return what to ask, most urgent first; ``is_found``: the line is known."""
        if not self._skill.asks:
            return {}
        known = _WANTED if is_found else QUESTIONS
        if self._new is None:
            return known
        about_new = self._new.questions()
        if self._inquiry.open(known):
            return {**known, **about_new}
        # With too few turns to name everything that a wish may be about, each turn brings one wish for sure.
        unnamed = 0 if self._new.has_read else _ON_CARDS
        if len(self._inquiry.open(about_new)) + unnamed > _TOLD_AT_ONCE * (turns_left - 1):
            return {ANYTHING: f"What else should the new {self._new.noun} be like?"}
        return about_new

    def _finish(self, which: dict[str, str], selected: dict[str, Any]) -> Action:
        reason = self._request.reason or "defective"
        method = self._request.method or "original_payment"
        new = self._found()
        if method == EXCHANGE and new is not None:
            sent = call("return_exchange", **which, reason=reason, new_product_id=new["product_id"])
            answer = {**selected, "resolution": "exchanged"}
        else:
            refund = "original_payment" if method == EXCHANGE else method
            sent = call("return_initiate", **which, reason=reason, method=refund)
            recommended = [new["product_id"]] if new else []
            answer = {**selected, "resolution": "returned", "recommended_product_ids": recommended}
        if self._is_done:
            return {"answer": answer}
        return {"tool_calls": [sent]} if self._skill.guesses else {"tool_calls": [sent], "answer": answer}

    def _found(self) -> Card | None:
        """Return what to offer instead."""
        if self._new is None:
            return None
        return self._new.best() if self._skill.compares else self._new.first()
