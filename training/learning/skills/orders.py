"""Reading a customer's order history: what each order has in common with what was said."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from rapidfuzz import fuzz

from ecom_rlve.models import ToolResult
from ecom_rlve.training.learning.matching import day_of, days_in, money_in, months_in, names_in
from ecom_rlve.training.learning.notebook import Notebook, how_many

Order = dict[str, Any]
_QUOTED = re.compile(r'"[^"]*"')
_TITLE = 92.0
"""From this likeness on a title counts as quoted."""


class Match(NamedTuple):
    """How one order agrees with what was said."""

    day: str
    total: str
    month: str
    things: str
    title: str

    @property
    def score(self) -> int:
        """Number of agreements less the number of contradictions."""
        return sum({"yes": 1, "no": -1}.get(each, 0) for each in self)


class OrderNotes(Notebook):
    """Notes of the orders that tools have shown."""

    listed: list[Order]
    opened: dict[str, Order]

    def __init__(self, opening: Any) -> None:
        self.listed, self.opened = [], {}
        super().__init__(opening)

    def take(self, result: ToolResult) -> None:
        if result.result is None:
            return
        if result.name == "order_list":
            known = {each["order_id"] for each in self.listed}
            self.listed += [each for each in result.result["orders"] if each["order_id"] not in known]
        elif result.name == "order_get":
            self.opened[result.result["order_id"]] = result.result

    def matches(self) -> list[Match]:
        """Return how each listed order agrees with what was said."""
        text = self.text
        categories = tuple(sorted({name for order in self.listed for name in order["categories"]}))
        titles = sorted({title for order in self.listed for title in order["titles"]})
        quoted = [title for title in titles if '"' in text and fuzz.partial_ratio(title, text) >= _TITLE]
        named = names_in(_QUOTED.sub(" ", text) if quoted else text, categories)
        return [self._match(order, named, quoted) for order in self.listed]

    def _match(self, order: Order, named: tuple[str, ...], quoted: list[str]) -> Match:
        text, (month, day) = self.text, day_of(order["date"])
        held = sum(name in order["categories"] for name in named)
        things = "none" if not named else "yes" if held == len(named) else "some" if held else "no"
        return Match(
            _verdict(days_in(text), (month, day)),
            _verdict(money_in(text), round(100 * order["total"])),
            _verdict(months_in(text), month),
            things,
            "none" if not quoted else "yes" if any(each in order["titles"] for each in quoted) else "no",
        )

    def order_features(self) -> list[tuple[str, ...]]:
        """Return the features of each listed order."""
        matches = self.matches()
        best = max((each.score for each in matches), default=0)
        equal = how_many(sum(each.score == best for each in matches))
        found = []
        for at, match in enumerate(matches):
            is_best = match.score == best
            agreement = [f"{name}:{value}" for name, value in match._asdict().items()]
            rank = f"best:{is_best},{equal if is_best else ''}"
            found.append((*agreement, rank, f"newest:{at == 0}"))
        return found

    def state(self) -> tuple[str, ...]:
        matches = self.matches()
        best = max((each.score for each in matches), default=0)
        equal = how_many(sum(each.score == best for each in matches))
        return (
            *super().state(),
            f"listed:{bool(self.listed)}",
            f"equal:{equal}",
            f"opened:{how_many(len(self.opened))}",
        )


def _verdict(said: Any, shown: Any) -> str:
    return "none" if not said else "yes" if shown in said else "no"
