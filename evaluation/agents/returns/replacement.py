"""What an expert knows of the new thing that a customer wants: their wishes, and which products meet all of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ecom_rlve.evaluation.agent import call
from ecom_rlve.evaluation.agents.cards import Card, Filters, filters_of, meets
from ecom_rlve.models import SaidFact

_PAGE = 10
_ANYWHERE = ("price", "brand", "rating", "ship_days")
"""What a customer may have a wish about whatever the thing is; its other attributes stand on cards."""
_HIDDEN = "model"
"""An attribute for which many a card has no room."""
_NO_WISH = {"product_id", "title", "category", "price_from", "in_stock"}
_SURE = 2
"""Searches by a filter that showed a product: one may show another in the place of what it found, two hardly do."""


class Replacement:
    """Something new of one kind."""

    def __init__(self, noun: str, category: str, wishes: dict[str, SaidFact]) -> None:
        """``noun`` is what the customer calls it, ``category`` what the shop does; ``wishes``, by attribute, grow."""
        self.noun = noun
        self._category = category
        self._wishes = wishes
        self.cards: dict[str, Card] = {}
        """Products of the category by id, as last shown."""
        self._passed: dict[str, Counter[tuple[str, Any]]] = {}
        """How many searches by a filter have shown a product, by the product's id."""
        self._searched: Counter[str] = Counter()
        """How many searches were made, by their filters as text."""

    def take(self, args: dict[str, Any], result: dict[str, Any] | None) -> None:
        """Note what a search with these arguments showed; None where the shop refused it."""
        filters = {name: value for name, value in args.items() if name not in ("query", "limit", "sort")}
        self._searched[_text(filters)] += 1
        for card in [] if result is None else result["results"]:
            if card["category"] == self._category:
                self.cards[card["product_id"]] = card
                self._passed.setdefault(card["product_id"], Counter()).update(filters.items())

    def searches(self) -> list[dict[str, Any]]:
        """Return the searches that are worth making next, with all wishes as filters; none where a product is sure.

        Other words show other products in the places of some that were found, and the same found ones.
        """
        filters = {"category": self._category, "in_stock": True, **filters_of(self._wishes.values())}
        made = self._searched[_text(filters)]
        if made and self._is_sure():
            return []
        words = [form for noun in (self.noun, self._category) for form in (noun, f"new {noun}", f"good {noun}")]
        return [
            call("catalog_search", query=query[:400], limit=_PAGE, sort="price_asc", **filters)
            for query in words[made : made + _SURE]
        ]

    def browse(self) -> list[dict[str, Any]]:
        """Return a search for the thing, whatever it is like; none after the first."""
        return [] if self._searched else [call("catalog_search", query=self.noun[:400], category=self._category)]

    def questions(self) -> dict[str, str]:
        """Return a question about each attribute that a wish can be about."""
        counts = Counter(name for card in self.cards.values() for name in sorted(card.keys() - _NO_WISH))
        names = dict.fromkeys((*_ANYWHERE, *(name for name, _ in counts.most_common()), _HIDDEN))
        labels = {name: "delivery time" if name == "ship_days" else name.replace("_", " ") for name in names}
        return {name: f"Which {label} should the new {self.noun} have?" for name, label in labels.items()}

    def best(self) -> Card | None:
        """Return the product that most surely meets all wishes, None where none is in stock."""
        return max((card for card in self.cards.values() if card["in_stock"]), key=self._evidence, default=None)

    def first(self) -> Card | None:
        """Return the first product shown, whatever it is like."""
        return next(iter(self.cards.values()), None)

    def _is_sure(self) -> bool:
        best = self.best()
        return best is not None and self._evidence(best) == (0, _SURE * len(self._wishes))

    def _evidence(self, card: Card) -> tuple[int, int]:
        """Return how many wishes a product does not meet, negative, and how sure it is that it meets the others."""
        met = [(wish, meets(card, wish)) for wish in self._wishes.values()]
        sure = [_SURE if is_met else self._support(card, wish) for wish, is_met in met if is_met is not False]
        return len(sure) - len(met), sum(sure)

    def _support(self, card: Card, wish: SaidFact) -> int:
        """Return how sure searches by a wish make it that a product meets it, of which its card shows nothing."""
        passed = self._passed[card["product_id"]]
        return min(_SURE, min((passed[each] for each in filters_of([wish]).items()), default=0))


def _text(filters: Filters) -> str:
    return repr(sorted(filters.items()))
