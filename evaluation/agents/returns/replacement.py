"""What an expert knows of the new thing that a customer wants: their wishes, and which products meet all of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ecom_rlve.evaluation.agent import call
from ecom_rlve.evaluation.expert.cards import Card, Filters, filters_of, meets
from ecom_rlve.models import SaidFact

_PAGE = 10
_ANYWHERE = ("price", "brand", "rating", "ship_days")
"""What a customer may have a wish about whatever the thing is; its other attributes stand on cards."""
_NO_WISH = {
    "product_id", "title", "category", "price_from", "in_stock", "more", "rating_count", "description", "features",
}  # fmt: skip
_AT_ONCE = 2
"""Searches, or products to read in full, that are made one after another before looking what they have shown."""


class Replacement:
    """Something new of one kind."""

    def __init__(self, noun: str, category: str, wishes: dict[str, SaidFact]) -> None:
        """``noun`` is what the customer calls it, ``category`` what the shop does; ``wishes``, by attribute, grow."""
        self.noun = noun
        self._category = category
        self._wishes = wishes
        self.cards: dict[str, Card] = {}
        """Products of the category by id, as last shown, or as read in full."""
        self._whole: set[str] = set()
        """Ids of the products that were read in full."""
        self._searched: Counter[str] = Counter()
        """How many searches were made, by their filters as text."""
        self._hits: dict[str, Counter[str]] = {}
        """How many of those searches have shown a product, by its id: one may show another in its place."""

    def take(self, args: dict[str, Any], result: dict[str, Any] | None) -> None:
        """Note what a search with these arguments showed; None where the shop refused it."""
        filters = {name: value for name, value in args.items() if name not in ("query", "limit", "sort")}
        self._searched[_text(filters)] += 1
        hits = self._hits.setdefault(_text(filters), Counter())
        for card in [] if result is None else result["results"]:
            hits[card["product_id"]] += 1
            if card["category"] == self._category and card["product_id"] not in self._whole:
                self.cards[card["product_id"]] = card

    def take_whole(self, card: Card) -> None:
        """Note what was read of a product."""
        self.cards[card["product_id"]] = card
        self._whole.add(card["product_id"])

    def looks(self) -> list[dict[str, Any]]:
        """Return the looks that are worth taking next; none where a product is sure to meet all wishes.

        First searches with all wishes as filters. Then products that may fit are read in full, for a card has not room
        for everything: one at least, to know what can be asked for. Other words show other products in the places of
        some that were found, and the same found ones.
        """
        filters = self._filters()
        made = self._searched[_text(filters)]
        if made and self._is_sure():
            return [] if self.has_read else self._reads()[:1]
        words = [form for noun in (self.noun, self._category) for form in (noun, f"new {noun}", f"good {noun}")]
        searches = [
            call("catalog_search", query=query[:400], limit=_PAGE, sort="price_asc", **filters)
            for query in words[made : made + _AT_ONCE]
        ]
        return [*(self._reads() if made else ()), *searches]

    def browse(self) -> list[dict[str, Any]]:
        """Return a search for the thing, whatever it is like; none after the first."""
        return [] if self._searched else [call("catalog_search", query=self.noun[:400], category=self._category)]

    def questions(self) -> dict[str, str]:
        """Return a question about each attribute that a wish can be about."""
        counts = Counter(name for card in self.cards.values() for name in sorted(card.keys() - _NO_WISH))
        names = dict.fromkeys((*_ANYWHERE, *(name for name, _ in counts.most_common())))
        labels = {name: "delivery time" if name == "ship_days" else name.replace("_", " ") for name in names}
        return {name: f"Which {label} should the new {self.noun} have?" for name, label in labels.items()}

    @property
    def has_read(self) -> bool:
        """Whether a product of the kind was read in full, so that all its attributes are known."""
        return bool(self._whole)

    def best(self) -> Card | None:
        """Return the product that most surely meets all wishes, None where none is in stock."""
        return max(self._available(), key=self._evidence, default=None)

    def first(self) -> Card | None:
        """Return the first product shown, whatever it is like."""
        return next(iter(self.cards.values()), None)

    def _available(self) -> list[Card]:
        return [card for card in self.cards.values() if card["in_stock"]]

    def _reads(self) -> list[dict[str, Any]]:
        """Return calls that read the most promising products in full."""
        unread = [card for card in self._available() if card["product_id"] not in self._whole]
        promising = [card for card in unread if not self.has_read or not self._evidence(card)[0]]
        chosen = sorted(promising, key=self._evidence, reverse=True)[:_AT_ONCE]
        return [call("catalog_get_product", product_id=card["product_id"]) for card in chosen]

    def _is_sure(self) -> bool:
        best = self.best()
        return best is not None and self._evidence(best)[:2] == (0, len(self._wishes))

    def _evidence(self, card: Card) -> tuple[int, int, int]:
        """Return how many wishes a product does not meet, negative, how many it is seen to meet, and its hits."""
        is_whole = card["product_id"] in self._whole
        met = [meets(card, wish, is_whole=is_whole) for wish in self._wishes.values()]
        hits = self._hits.get(_text(self._filters()), Counter())
        return -met.count(False), met.count(True), hits[card["product_id"]]

    def _filters(self) -> Filters:
        return {"category": self._category, "in_stock": True, **filters_of(self._wishes.values())}


def _text(filters: Filters) -> str:
    return repr(sorted(filters.items()))
