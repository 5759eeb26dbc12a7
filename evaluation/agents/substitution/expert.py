"""The expert for SUB: finds the sold-out product, collects what is compatible, orders it by the brief's formula."""

from __future__ import annotations

import re
from typing import Any

from ecom_rlve.evaluation.agent import call
from ecom_rlve.evaluation.agents.candidates import Filters
from ecom_rlve.evaluation.agents.recommending import RecommendingExpert, Sent
from ecom_rlve.evaluation.agents.skill import Skill
from ecom_rlve.evaluation.reading import language
from ecom_rlve.evaluation.reading.item_notes import Card
from ecom_rlve.evaluation.reading.wishes import KEEPING, Wishes, read_wishes, values_of
from ecom_rlve.models import Observation, ToolResult

_WEIGHT = re.compile(r"worth (0?\.\d+|1|0)·similarity")


class SubstitutionExpert(RecommendingExpert):
    """Plays one SUB episode."""

    def __init__(self, skill: Skill | None = None) -> None:
        super().__init__(skill)
        self._original: Card | None = None
        self._weight = 0.5
        self._tries = 0

    def _read_brief(self, observation: Observation) -> None:
        super()._read_brief(observation)
        if weight := _WEIGHT.search(observation.instructions or ""):
            self._weight = float(weight[1])

    def _first_search(self, room: int) -> list[Sent]:
        title = language.quoted(self._text) or self._text

        def take(answer: ToolResult) -> None:
            self._tries += 1
            cards = (answer.result or {}).get("results", ())
            self._original = next((card for card in cards if card["title"] == title), self._original)
            if self._original is not None:
                self._category = self._original["category"]

        # A repeated search gives the same page; other words draw other distractors.
        words = title.rstrip("…").split()
        queries = [" ".join(words[at:] + words[:at]) for at in range(self._tries, self._tries + room)]
        return [(call("catalog_search", query=query, limit=10), take) for query in queries]

    def _wishes(self) -> Wishes:
        """Return what was said; the values that the customer may name are those of the original."""
        text = _untitled(self._text)
        values, numbers = values_of([self._original] if self._original else [])
        return read_wishes(text, values, numbers)

    def _filters(self, wishes: Wishes) -> Filters:
        assert self._original is not None
        filters: dict[str, Any] = {"category": self._category}
        if self._skill.minds_stock:
            filters["in_stock"] = True
        return filters | {name: self._original[name] for name in wishes.kept}

    def _open_questions(self, wishes: Wishes) -> list[str]:
        says_it = wishes.kept or any(word in language.words(_untitled(self._text)) for word in KEEPING)
        first = [] if says_it else ["compatibility"]
        if self._category is not None and not self._missing(wishes):
            return first
        names = (*first, "price", "brand", "rating", "ship_days", *self._attributes())
        return [name for name in names if name not in wishes.attributes]

    def _ranked(self, wishes: Wishes) -> list[str]:
        required = Wishes(words={name: wishes.words[name] for name in wishes.kept})
        own = self._original["product_id"] if self._original else None
        pool = [card for card in self._fitting(required) if card["product_id"] != own]
        if self._original is None or self._facets is None or not self._skill.compares:
            return [card["product_id"] for card in pool]
        original = self._original
        alike = {card["product_id"]: self._similarity(original, card) for card in pool}
        low, high = min(alike.values(), default=0.0), max(alike.values(), default=0.0)
        others = wishes.attributes - wishes.kept.keys()
        worth = {}
        for card in pool:
            similarity = (alike[card["product_id"]] - low) / (high - low) if high > low else 1.0
            met = sum(bool(wishes.is_met(card, name)) for name in others) / len(others) if others else 1.0
            worth[card["product_id"]] = self._weight * similarity + (1 - self._weight) * met
        return sorted(worth, key=lambda product_id: -worth[product_id])

    def _similarity(self, original: Card, card: Card) -> float:
        facets = self._facets or {"attributes": [], "ranges": {}}
        parts = [float(card.get(name) == original[name]) for name in facets["attributes"] if name in original]
        for name, (low, high) in facets["ranges"].items():
            if name in original:
                apart = abs(card[name] - original[name]) / (high - low) if name in card and high > low else 0.0
                parts.append(1 - apart if name in card else 0.0)
        return sum(parts) / len(parts) if parts else 0.0


def _untitled(text: str) -> str:
    """Return a text without the titles that it quotes."""
    return re.sub(r"\".+?\"", " ", text)
