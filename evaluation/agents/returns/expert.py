"""The expert for RETURN: finds the line, checks it, asks what it was not told, finds something new, sends it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, call, one_at_a_time
from ecom_rlve.evaluation.agents.returns.notes import Line, ReturnNotes
from ecom_rlve.evaluation.agents.skill import Skill
from ecom_rlve.evaluation.reading import language
from ecom_rlve.evaluation.reading.item_notes import Card, Vocabulary
from ecom_rlve.evaluation.reading.order_notes import Order, OrderNotes, holds
from ecom_rlve.evaluation.reading.thing_notes import Filters, ThingNotes, meets, naming

_WHICH = "When did you order it, what was the order total, what price did you pay for each, and what was the quantity?"
_WISHES = (
    ("reason", "What is the reason for the return?"),
    ("method", "Which refund method or exchange do you want?"),
    ("wants_new", "Do you need a replacement?"),
)
_FACTS_PER_QUESTION = 3
_ASKS = 2
_PAGE = 10
_SEARCHES = 3
_FEW_TURNS = 4
"""With so few left, one wish for sure is worth more than three perhaps."""
_NOT_ASKED = {"product_id", "title", "category", "price_from", "in_stock", "ship_days"}
_LABELS = {
    "color": "colour",
    "connector_type": "connector",
    "item_form": "form",
    "finish_type": "finish",
    "skin_type": "skin type",
    "age_range": "age range",
    "screen_size": "screen size",
    "battery_life": "battery life",
}


class ReturnExpert:
    """Plays one RETURN episode."""

    def __init__(self, skill: Skill | None = None) -> None:
        self._skill = skill or Skill()
        self._orders = OrderNotes()
        self._notes = ReturnNotes()
        self._vocabulary = Vocabulary()
        self._read: dict[str, Order] = {}
        self._checked: dict[str, bool] = {}
        self._new: ThingNotes | None = None
        self._cards: dict[str, Card] = {}
        self._placings = 0
        """Searches for the kind of the thing."""
        self._searches: list[Filters] = []
        self._asked_which = 0
        self._asked: set[str] = set()
        self._told_when_asked: list[str] | None = None
        """What was known of the new thing when it was last asked what else it should be like."""
        self._passing: dict[str, Filters] = {}
        """The filters of the search that last showed a product, by id."""
        self._sent: list[dict[str, Any]] = []
        """Arguments of the searches whose results are still to come."""
        self._is_done = False
        self._is_piecemeal = False

    def act(self, result: StepResult) -> Action:
        """Return the next action."""
        observation = result.observation
        for answer in observation.tool_results:
            self._take(answer.name, answer.result or {})
        self._notes.hear(observation.user_message)
        if self._notes.thing is None and self._orders.orders:
            self._notes.thing = next(iter(self._orders.things_named(self._notes.about_thing)), None)
        self._is_piecemeal = result.metadata.style == "tool"
        room = max(1, observation.tool_calls_left)  # A call too many for the open turn opens the next.
        action = one_at_a_time(self._decide(room, observation.turns_left), result.metadata.style)
        self._sent = [sent["args"] for sent in action.get("tool_calls", ()) if sent["name"] == "catalog_search"]
        return action

    def _take(self, name: str, result: dict[str, Any]) -> None:
        self._orders.learn(result)
        if name == "order_get" and result:
            self._read[result["order_id"]] = result
        elif name == "return_check_eligibility" and result:
            self._checked[result["line_id"]] = result["eligible"]
        elif name in ("return_initiate", "return_exchange"):
            self._is_done |= bool(result)
        elif name == "catalog_search":
            cards = result.get("results", [])
            args = self._sent.pop(0)
            filters = {name: value for name, value in args.items() if name not in ("query", "category", "limit")}
            self._passing.update({card["product_id"]: filters for card in cards})
            self._vocabulary.learn(cards)
            self._cards.update({card["product_id"]: card for card in cards})
            if self._new is None and self._notes.thing is not None:
                kinds = [ThingNotes(category) for category in dict.fromkeys(card["category"] for card in cards)]
                self._placings += 1
                self._new = naming(kinds, self._notes.thing) or (kinds[0] if kinds and self._placings > 1 else None)

    def _decide(self, room: int, turns_left: int) -> Action:
        page = self._orders.next_page
        if page is not None and turns_left > 1:
            return {"tool_calls": [page]}
        narrows = self._skill.filters
        orders = self._notes.orders_meant(self._orders, narrows=narrows)
        if not self._skill.compares or not narrows:
            orders = orders[:1]
        unread = [order for order in orders if order["order_id"] not in self._read]
        read = [self._read[order["order_id"]] for order in orders if order not in unread]
        lines = self._notes.lines_meant(read, narrows=narrows)
        if (len(unread) > room or (len(lines) > 1 and not unread)) and self._may_ask_which(turns_left):
            self._asked_which += 1
            return {"assistant_message": _WHICH}
        if unread and turns_left > 2:
            calls = [call("order_get", order_id=order["order_id"]) for order in unread]
            if self._notes.wants_new and self._new is None:
                calls.append(self._placing())
            return self._look(calls[:room], self._wishes_question, turns_left)
        if not lines:
            return {"answer": {"done": True}}
        return self._treat(*lines[0], room, turns_left)

    def _may_ask_which(self, turns_left: int) -> bool:
        return self._skill.asks and self._asked_which < _ASKS and turns_left > 2

    def _treat(self, order_id: str, line: Line, room: int, turns_left: int) -> Action:
        """Check the line, learn what is wanted, and do it."""
        which = {"order_id": order_id, "line_id": line["line_id"]}
        selected = {"done": True, "selected_order_id": order_id, "selected_line_id": line["line_id"]}
        is_eligible = self._checked.get(line["line_id"])
        if is_eligible is False:
            return {"answer": {**selected, "resolution": "not_eligible"}}
        search = self._search() if self._notes.wants_new and turns_left > 1 else None
        calls = [call("return_check_eligibility", **which)] if is_eligible is None and turns_left > 1 else []
        calls += [search] if search else []
        action = self._look(calls[:room], self._question, turns_left)
        return action if action["tool_calls"] or action.get("assistant_message") else self._finish(which, selected)

    def _look(self, calls: list[dict[str, Any]], question: Callable[[int], str], turns_left: int) -> Action:
        """Return calls that change nothing, with a question; a tool at a time, the question waits for its turn."""
        if self._is_piecemeal and calls:
            return {"tool_calls": calls[:1], "end_turn": False}
        return {"assistant_message": question(turns_left), "tool_calls": calls}

    def _question(self, turns_left: int) -> str:
        return self._wishes_question(turns_left) or self._new_question(turns_left)

    def _finish(self, which: dict[str, str], selected: dict[str, Any]) -> Action:
        notes = self._notes
        reason, method = notes.reason or "defective", notes.method or "original_payment"
        new = self._best() if notes.wants_new else None
        product_id = new["product_id"] if new else None
        if method == "exchange" and product_id is not None:
            sent = call("return_exchange", **which, reason=reason, new_product_id=product_id)
            answer = {**selected, "resolution": "exchanged"}
        else:
            refund = "original_payment" if method == "exchange" else method
            sent = call("return_initiate", **which, reason=reason, method=refund)
            answer = {**selected, "resolution": "returned", "recommended_product_ids": [product_id] if new else []}
        if self._is_done:
            return {"answer": answer}
        if self._skill.guesses:
            return {"tool_calls": [sent]}
        return {"tool_calls": [sent], "answer": answer}

    def _wishes_question(self, turns_left: int) -> str:
        """Return what to ask about what shall become of the thing."""
        if not self._skill.asks or turns_left <= 1:
            return ""
        missing = [
            (name, text) for name, text in _WISHES if getattr(self._notes, name) is None and name not in self._asked
        ]
        self._asked.update(name for name, _ in missing)
        return " ".join(text for _, text in missing)

    def _new_question(self, turns_left: int) -> str:
        """Return what to ask about what is wanted instead."""
        if not (self._skill.asks and self._notes.wants_new and self._new) or turns_left <= 2:
            return ""
        if turns_left <= _FEW_TURNS:
            is_told_all = self._told_when_asked == self._notes.about_new
            self._told_when_asked = list(self._notes.about_new)
            return "" if is_told_all else f"What else should the new {self._notes.thing} be like?"
        told, _ = self._meant()
        known = {name.removesuffix("_max").removesuffix("_min") for name in told}
        names = ["price", "brand", "rating", "ship_days"]
        shown = [card for card in self._cards.values() if card["category"] == self._new.category]
        names += [name for card in shown for name in card if name not in _NOT_ASKED]
        names += sorted(self._vocabulary.values.get(self._new.category, {}))
        open_names = [name for name in dict.fromkeys(names) if name not in known | self._asked]
        chosen = open_names[:_FACTS_PER_QUESTION]
        self._asked.update(chosen)
        if not chosen:
            return ""
        labels = [_LABELS.get(name, "delivery time" if name == "ship_days" else name) for name in chosen]
        return f"For the new {self._notes.thing}, which {', '.join(labels)} do you want?"

    def _meant(self) -> tuple[Filters, list[str]]:
        assert self._new is not None
        self._new.text = self._notes.about_new
        filters, unread = self._new.meant(self._vocabulary)
        prices = language.prices(" ".join(self._notes.about_new))
        return filters | ({"price_max": prices[-1]} if prices else {}), unread

    def _placing(self) -> dict[str, Any]:
        """Return a search that finds out which category the thing is of."""
        thing = self._notes.thing or "product"
        lines = (
            pair for order in self._orders.orders for pair in zip(order["titles"], order["categories"], strict=True)
        )
        known = next((title for title, kind in lines if holds({"titles": [title], "categories": [kind]}, thing)), thing)
        return call("catalog_search", query=known[:400] if self._placings else thing, limit=_PAGE)

    def _search(self) -> dict[str, Any] | None:
        """Return the next search for something new, None where enough was seen."""
        said = " ".join(self._notes.about_new)
        if self._new is None:
            return self._placing()
        filters, unread = self._meant()
        if not self._skill.filters or not self._skill.compares:
            return None
        tries = self._searches.count(filters)
        if tries and (tries >= _SEARCHES or self._is_sure(filters)):
            return None
        self._searches.append(filters)
        query = [f"{self._new.noun} {' '.join(unread)}", self._new.noun, said][tries % 3]
        return call("catalog_search", query=query[:400] or "any", category=self._new.category, limit=_PAGE, **filters)

    def _is_sure(self, filters: Filters) -> bool:
        best = self._best()
        return best is not None and bool(meets(best, filters))

    def _best(self) -> Card | None:
        """Return the product that most surely meets what was said."""
        if self._new is None:
            return None
        cards = [card for card in self._cards.values() if card["category"] == self._new.category and card["in_stock"]]
        if not self._skill.compares:
            return next(iter(cards), None)
        filters, _ = self._meant()

        def rank(card: Card) -> tuple[bool, bool, bool, int]:
            is_met = meets(card, filters)
            has_passed = self._passing[card["product_id"]] == filters
            met = sum(meets(card, {name: value}) is True for name, value in filters.items())
            return is_met is not False, is_met is True, has_passed, met

        return max(cards, key=rank, default=None)


__all__ = ["ReturnExpert"]
