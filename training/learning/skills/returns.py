"""Skills for RETURN, without replacements: find the line, check it, return it for a reason and by a method, answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ecom_rlve.envs.reading.facts import FactReader
from ecom_rlve.evaluation.agents.returns.request import EXCHANGE, METHODS, REASONS
from ecom_rlve.models import Observation, ToolResult
from ecom_rlve.training.learning.matching import money_in, names_in
from ecom_rlve.training.learning.notebook import how_many, question, submit, use
from ecom_rlve.training.learning.policy import Candidate
from ecom_rlve.training.learning.skills.orders import OrderNotes

_PAGE = 50
_LINES = 4
"""Lines of the kind that are offered, those of orders that agree best first."""
_METHODS = {words: name for words, name in METHODS.items() if name != EXCHANGE}
"""The ways to make good that need no other product."""
_COMMON = "changed_mind"
"""Offered beside the reason that was said, and alone where none was."""
_SAID = {"reason": tuple(REASONS), "method": tuple(METHODS)}
_READER = FactReader(
    {kind: {each: each for each in said} for kind, said in _SAID.items()},
    {"reason": "reason", "method": "compensation", "units_bought": "quantity bought"},
)
_QUESTIONS = {
    "reason": "What is the reason for the return?",
    "method": "How would you like to be compensated?",
    "day": "On which date did you place the order?",
    "total": "What was the order total?",
    "paid": "What price did you pay for it?",
    "units": "How many did you buy?",
    "replacement": "Do you want a replacement?",
    "anything": "Is there anything else that I should know?",
}


class Line(NamedTuple):
    """An order line of the kind that the customer speaks of."""

    order: int
    """Number of its order in the list."""
    order_id: str
    line_id: str
    shown: dict[str, Any]
    """As its order was read; empty before."""


class ReturnNotes(OrderNotes):
    """Notes of one RETURN episode."""

    def __init__(self, opening: Observation) -> None:
        self.checked: dict[str, bool] = {}
        """Lines that were checked, and whether each can be returned."""
        self.returned: set[str] = set()
        super().__init__(opening)

    def take(self, result: ToolResult) -> None:
        super().take(result)
        fields = result.result or {}
        if result.name == "return_check_eligibility" and fields:
            self.checked[fields["line_id"]] = bool(fields["eligible"])
        elif result.name == "return_initiate" and fields:
            self.returned.add(fields["line_id"])

    def offers(self) -> list[Candidate]:
        said = self._said()
        offers = [
            Candidate("list", use("order_list", limit=_PAGE)),
            *(
                question(self, "ask", topic, text, f"{topic},{topic in said}")
                for topic, text in _QUESTIONS.items()
                if not self.asked[topic]
            ),
        ]
        features = self.order_features()
        lines = self._lines()
        fits = [self._fit(line, features[line.order]) for line in lines]
        for at in dict.fromkeys(line.order for line in lines):
            action = use("order_get", order_id=self.listed[at]["order_id"])
            offers.append(Candidate("get", action, features[at]))
        for line, fit in zip(lines, fits, strict=True):
            where = {"order_id": line.order_id, "line_id": line.line_id}
            offers.append(Candidate("check", use("return_check_eligibility", **where), fit))
            if line.line_id in self.checked:
                offers += self._ends(line, fit, said)
        return offers

    def _ends(self, line: Line, fit: tuple[str, ...], said: dict[str, str]) -> Iterator[Candidate]:
        where = {"order_id": line.order_id, "line_id": line.line_id}
        can = f"can:{self.checked[line.line_id]},{line.line_id in self.returned}"
        own = (can, f"any:{can},{bool(self.returned)}", *fit)
        told = REASONS.get(said.get("reason", ""), "")
        for reason in dict.fromkeys(filter(None, (told, _COMMON))):
            for name, method in _METHODS.items():
                action = use("return_initiate", **where, reason=reason, method=method)
                wanted = (
                    f"reason:{bool(told)},{reason == told}",
                    f"method:{said.get('method', '')},{method}",
                    f"as told:{reason == told},{name == said.get('method')}",
                )
                yield Candidate("return", action, (*wanted, *own))
        selected = {"selected_order_id": line.order_id, "selected_line_id": line.line_id}
        for resolution in ("returned", "not_eligible"):
            # A skill of its own for each verdict: whoever has learnt to refuse what cannot be returned would refuse all
            # else too, and as such a group is never mixed, nothing would teach it otherwise.
            skill = f"submit {resolution}, {can}"
            yield Candidate(skill, submit(**selected, resolution=resolution), own)

    def _said(self) -> dict[str, str]:
        """Return what was read of reason and method, and which other things were said."""
        found = {
            fact.kind: str(fact.value)
            for message in self.said
            for fact in _READER.facts_in(message, ("reason", "method", "units_bought", "order_date", "price_paid"))
        }
        names = {"units_bought": "units", "order_date": "day", "price_paid": "paid"}
        return {names.get(kind, kind): value for kind, value in found.items()}

    def _lines(self) -> list[Line]:
        categories = tuple(sorted({name for order in self.listed for name in order["categories"]}))
        named = names_in(self.first, categories)[:1]
        found = []
        for at, order in enumerate(self.listed):
            read = {each["line_id"]: each for each in self.opened.get(order["order_id"], {}).get("lines", ())}
            for line_id, category in zip(order["line_ids"], order["categories"], strict=True):
                if not named or category in named:
                    found.append(Line(at, order["order_id"], line_id, read.get(line_id, {})))
        scores = [match.score for match in self.matches()]
        return sorted(found, key=lambda line: (-scores[line.order], line.order, line.line_id))[:_LINES]

    def _fit(self, line: Line, features: tuple[str, ...]) -> tuple[str, ...]:
        if not line.shown:
            return (*features, "price:unread")
        amounts, units = money_in(self.text), self._said().get("units")
        price = round(100 * line.shown["price_paid"]) in amounts if amounts else None
        counted = None if units is None else units == str(line.shown["quantity"])
        return (*features, f"price:{price}", f"units:{counted}", f"both:{price},{counted}")

    def state(self) -> tuple[str, ...]:
        said, lines = self._said(), self._lines()
        able = [self.checked[line.line_id] for line in lines if line.line_id in self.checked]
        return (
            *super().state(),
            f"said:{'reason' in said},{'method' in said}",
            f"lines:{how_many(len(lines))}",
            f"checked:{how_many(len(able), 2)},{any(able)}",
            f"returned:{bool(self.returned)}",
        )
