"""The expert for PD: asks for the wishes, searches with filters for all that fulfils them, orders it by the brief."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import product
from typing import ClassVar

from ecom_rlve.evaluation.expert.cards import Card, Filters, filters_of, limits, words_named
from ecom_rlve.evaluation.expert.interview import ANYTHING, FACTS_PER_TURN, Topic
from ecom_rlve.evaluation.expert.recommending import RecommendingExpert
from ecom_rlve.evaluation.expert.scripted import Sent
from ecom_rlve.evaluation.expert.shelf import Search
from ecom_rlve.models import SaidFact

_USUAL = ("rating", "brand", "ship_days")
"""What products of any kind have."""
_DIMENSIONS: Mapping[str, str] = {
    "price": "price",
    "rating": "rating",
    "delivery time": "ship_days",
    "brand": "brand",
}
"""What may matter most, by what the customer calls it."""
_BEST: Mapping[str, float] = {"price": 0.0, "rating": 5.0, "ship_days": 1.0}
_CENTS = 100
_TOP, _REST = 0.7, 0.3
_TELLING = ("model", "brand")
"""What differs more between products of a kind than anything else."""
_MOST_SPLIT = 2
"""Wishes of the form "A or B" that are searched for value by value: each of them doubles the searches."""
_FEW = 20
"""So many products, or more, pass a search: "A or B" are searched one by one. No search tells more than this at d = 20,
however many there are."""


class DiscoveryExpert(RecommendingExpert):
    """Plays one PD episode."""

    sure: ClassVar[tuple[str, ...]] = ("price", "priority")
    """What every customer has a wish about."""

    def _wishes(self) -> dict[str, SaidFact]:
        """Return what was said a product should be like, by attribute."""
        return {fact.attribute: fact for fact in self._item.latest() if fact.slot != "priority"}

    def _topics(self) -> list[Topic]:
        wishes = self._wishes()
        told = {*wishes, *(("priority",) if "priority" in self._item.facts else ())}
        sure = [Topic(name) for name in self.sure if name not in told and Topic(name) not in self._interview.closed]
        lacking = self._wished - len(wishes) - ("price" not in wishes)
        if lacking <= 0:
            return sure
        names = (Topic(name) for name in (*_USUAL, *self._shelf.attributes()) if name not in told)
        others = [topic for topic in names if topic not in self._interview.closed]
        if sure or lacking * FACTS_PER_TURN >= len(others):
            return sure + others
        return [topic for topic in (ANYTHING,) if topic not in self._interview.closed] or others

    def _is_sure(self, topics: Collection[Topic]) -> bool:
        return any(topic.name in self.sure for topic in topics)

    def _searches(self) -> list[Search]:
        """Return the searches for what meets all wishes, or at first those that are known.

        What is seen early is seen again before the answer. A question that names nothing is the agent's turn in any
        case: looks in the same action cost nothing.
        """
        if self._is_lazy:
            return self._lazy_search()
        topics = self._topics() if self._is_asking else []
        is_free = topics[:1] == [ANYTHING] and not self._is_piecemeal
        if topics and not is_free and self._shelf.category is not None:
            return []
        whole = self._shelf.search({**self._stock_filter(), **filters_of(self._wishes().values())})
        if whole.total is None or whole.total < _FEW:
            return [whole]
        return [self._shelf.search({**whole.filters, **more}) for more in _alternatives(self._wishes().values())]

    def _further_looks(self) -> Iterator[Sent]:
        """Yield searches, then looks at the best products where neither cards nor filters tell whether they fit."""
        looks = list(super()._further_looks())
        yield from looks
        if looks or self._is_lazy:
            return
        ranked, proved = self._in_order(believes=True), set(self._ranked())
        if not proved.issuperset(ranked[: self._picks]):
            yield from (self._shelf.look_at(product_id) for product_id in ranked if product_id not in proved)

    def _first_sort(self) -> str:
        return {"rating": "rating_desc", "ship_days": "ship_days_asc"}.get(self._priority() or "", "price_asc")

    def _priority(self) -> str | None:
        fact = self._item.facts.get("priority")
        return _DIMENSIONS.get(str(fact.value)) if fact else None

    def _ranked(self) -> list[str]:
        return self._in_order(believes=False)

    def _in_order(self, *, believes: bool) -> list[str]:
        wishes = self._wishes()
        fitting = self._fitting(wishes.values(), believes=believes)
        if self._skill.compares:
            fitting.sort(key=lambda card: -_utility(card, wishes, self._priority()))
        return [card["product_id"] for card in fitting]


class CheapestFirst(DiscoveryExpert):
    """Finds what fulfils all wishes like the expert, but always lists the cheapest first, whatever matters most."""

    sure = ("price",)

    def _priority(self) -> str:
        return "price"

    def _ranked(self) -> list[str]:
        cards = self._fitting(self._wishes().values())
        return [card["product_id"] for card in sorted(cards, key=lambda card: float(card["price"]))]


def _alternatives(wishes: Iterable[SaidFact]) -> list[Filters]:
    """Return the filters that together say "A or B", of the two such wishes that usually leave the fewest products."""
    named = [(wish.attribute, words_named(wish)) for wish in wishes if wish.op == "any_of"]
    named = sorted(named, key=lambda each: each[0] not in _TELLING)[:_MOST_SPLIT]
    return [dict(zip((name for name, _ in named), chosen, strict=True)) for chosen in product(*(v for _, v in named))]


def _utility(card: Card, wishes: Mapping[str, SaidFact], priority: str | None) -> float:
    """Return what a product is worth by the brief's rule."""
    names = [name for name in _DIMENSIONS.values() if name in wishes]
    others = len(names) - (priority in names)
    worth = 0.0
    for name, best in _BEST.items():
        if name not in wishes or words_named(wishes[name]):
            continue
        # Of a range of prices the highest is the limit.
        low, high = limits(wishes[name])
        limit = (low if name == "rating" else high) / (_CENTS if name == "price" else 1)
        if limit != best:
            weight = _TOP if name == priority else _REST / max(1, others)
            worth += weight * abs(card[name] - limit) / abs(best - limit)
    return worth
