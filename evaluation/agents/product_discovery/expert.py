"""The expert for PD: reads the wishes, searches with filters for all that fulfil them, orders these by the brief."""

from __future__ import annotations

import re
from typing import Any

from ecom_rlve.evaluation.agent import call
from ecom_rlve.evaluation.agents.candidates import Filters
from ecom_rlve.evaluation.agents.recommending import RecommendingExpert, Sent
from ecom_rlve.evaluation.reading import language
from ecom_rlve.evaluation.reading.item_notes import Card
from ecom_rlve.evaluation.reading.wishes import DIMENSIONS, FILTERS, Wishes
from ecom_rlve.models import ToolResult

_SURE = ("price", "priority")
"""What every customer has a wish about."""
_NOUN_SCORE = 78
_TOP, _REST = 0.7, 0.3
_BEST = {"price": 0.0, "rating": 5.0, "ship_days": 1.0}
_PHRASE = re.compile(r"\ban? ((?:pair|box|bag|tin|set) of (?:[\w'’-]+ ?){1,3}|(?:[\w'’-]+ ?){1,3})")


class DiscoveryExpert(RecommendingExpert):
    """Plays one PD episode."""

    _tries = 0

    def _first_search(self, room: int) -> list[Sent]:
        def take(answer: ToolResult) -> None:
            self._tries += 1
            names = dict.fromkeys(card["category"] for card in (answer.result or {}).get("results", ()))
            scored = [(_noun_score(name, self._text), len(name), -at, name) for at, name in enumerate(names)]
            score, *_, category = max(scored, default=(0.0, 0, 0, ""))
            if score >= _NOUN_SCORE or (self._tries > 3 and category):
                self._category = category

        # "a tool box", "an area rug": what follows an article may be the thing; longer texts find it less surely.
        named = [" ".join(language.words(phrase)) for phrase in _PHRASE.findall(self._text)]
        queries = [*dict.fromkeys(named), " ".join(language.words(self._text))[:400]][self._tries :][:room]
        return [(call("catalog_search", query=query, limit=10), take) for query in queries]

    def _filters(self, wishes: Wishes) -> Filters:
        filters: dict[str, Any] = {"category": self._category}
        if self._skill.minds_stock:
            filters["in_stock"] = True
        filters |= {name: values[0] for name, values in wishes.words.items() if len(values) == 1}
        return filters | {FILTERS[name]: bound for name, bound in wishes.bounds.items()}

    def _open_questions(self, wishes: Wishes) -> list[str]:
        told = wishes.attributes | ({"priority"} if wishes.priority else set())
        sure = [name for name in _SURE if name not in told]
        if not self._missing(wishes) or self._category is None:
            return sure
        names = (*_SURE, "rating", "brand", "ship_days", *self._attributes())
        return [name for name in names if name not in told]

    def _ranked(self, wishes: Wishes) -> list[str]:
        fitting = self._fitting(wishes)
        if not self._skill.compares:
            return [card["product_id"] for card in fitting]
        return [card["product_id"] for card in sorted(fitting, key=lambda card: -_utility(card, wishes))]


def _noun_score(category: str, text: str) -> float:
    return max(language.likeness(form, text) for form in language.noun_forms(category))


def _utility(card: Card, wishes: Wishes) -> float:
    """Return what a product is worth by the brief's rule."""
    names = [name for name in DIMENSIONS.values() if name in wishes.attributes]
    others = len(names) - (wishes.priority in names)
    worth = 0.0
    for name, best in _BEST.items():
        limit = wishes.bounds.get(name)
        if limit is not None and limit != best:
            weight = _TOP if name == wishes.priority else _REST / max(1, others)
            worth += weight * abs(card[name] - limit) / abs(best - limit)
    return worth
