"""The expert for SUB: finds the sold-out product, collects what is compatible, orders it by the brief's formula."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ecom_rlve.evaluation.expert.cards import Card, filters_of, meets
from ecom_rlve.evaluation.expert.interview import ANYTHING, FACTS_PER_TURN, Topic
from ecom_rlve.evaluation.expert.recommending import RecommendingExpert
from ecom_rlve.evaluation.expert.scripted import Sent
from ecom_rlve.evaluation.expert.shelf import Look, Search
from ecom_rlve.evaluation.expert.skill import Skill
from ecom_rlve.models import Observation, SaidFact

_WEIGHT = re.compile(r"worth (0?\.\d+|1|0)·similarity")
_KEPT = Topic("compatibility")
_NAMES = ("price", "brand", "rating", "ship_days")
_WORDINGS = 12
"""Wordings of a title by which the original is looked for, before what is known must do."""


class SubstitutionExpert(RecommendingExpert):
    """Plays one SUB episode."""

    def __init__(self, skill: Skill | None = None) -> None:
        super().__init__(skill)
        self._weight = 0.5
        self._tried: set[str] = set()

    def _begin(self, opening: Observation) -> None:
        super()._begin(opening)
        if weight := _WEIGHT.search(opening.instructions or ""):
            self._weight = float(weight[1])

    @property
    def _title(self) -> str:
        return self._heard.says["title"]

    def _original(self) -> Card | None:
        """Return the card of the sold-out product, None before it was found."""
        return next((card for card in self._shelf.cards.values() if card["title"] == self._title), None)

    def _required(self) -> list[SaidFact]:
        return [fact for fact in self._item.latest() if fact.slot == _KEPT.name]

    def _preferred(self) -> list[SaidFact]:
        return [fact for fact in self._item.latest() if fact.slot != _KEPT.name]

    def _first_looks(self) -> Iterator[Sent]:
        """Yield searches in words of the title: on each page other results are replaced by others."""
        if self._original() is not None:
            return
        search, words = self._shelf.search({}), self._title.rstrip("…").split()
        turned = [" ".join(words[at:] + words[:at]) for at in range(min(_WORDINGS, len(words)))]
        looks = (Look(query, "relevance", 0) for query in turned)
        untried = [look for look in looks if look not in search.looked]
        yield from (self._shelf.call(search, look) for look in untried[:1])

    def _topics(self) -> list[Topic]:
        lacking = self._wished - len(self._item.latest())
        if lacking <= 0:
            return []
        told = {fact.attribute for fact in self._item.latest()}
        names = (Topic(name) for name in (*_NAMES, *self._shelf.attributes()) if name not in told)
        others = [topic for topic in names if topic not in self._interview.closed]
        if _KEPT not in self._interview.closed:
            return [_KEPT, *others]
        if lacking * FACTS_PER_TURN >= len(others):
            return others
        return [topic for topic in (ANYTHING,) if topic not in self._interview.closed] or others

    def _is_sure(self, topics: Collection[Topic]) -> bool:
        # Something must stay the same in every case.
        return _KEPT in topics and not self._required()

    def _searches(self) -> list[Search]:
        if self._is_lazy:
            return self._lazy_search()
        if self._is_asking and self._wished > len(self._item.latest()) and _KEPT not in self._interview.closed:
            return []
        return [self._shelf.search({**self._stock_filter(), **filters_of(self._required())})]

    def _ranked(self) -> list[str]:
        required, original = self._required(), self._original()
        own = original["product_id"] if original else None
        pool = [card for card in self._fitting(required) if card["product_id"] != own]
        if original is None or self._shelf.facets is None or not self._skill.compares:
            return [card["product_id"] for card in pool]
        alike = {card["product_id"]: self._similarity(original, card) for card in pool}
        low, high = min(alike.values(), default=0.0), max(alike.values(), default=0.0)
        preferred = self._preferred()
        worth = {}
        for card in pool:
            similarity = (alike[card["product_id"]] - low) / (high - low) if high > low else 1.0
            met = sum(bool(meets(card, fact)) for fact in preferred) / len(preferred) if preferred else 1.0
            worth[card["product_id"]] = self._weight * similarity + (1 - self._weight) * met
        return sorted(worth, key=lambda product_id: -worth[product_id])

    def _similarity(self, original: Card, card: Card) -> float:
        facets = self._shelf.facets or {"attributes": [], "ranges": {}}
        parts = [float(card.get(name) == original[name]) for name in facets["attributes"] if name in original]
        for name, (low, high) in facets["ranges"].items():
            if name in original:
                apart = abs(card[name] - original[name]) / (high - low) if name in card and high > low else 0.0
                parts.append(1 - apart if name in card else 0.0)
        return sum(parts) / len(parts) if parts else 0.0
