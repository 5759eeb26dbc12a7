"""What searches have shown of one kind of product, and which further searches are worth their calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ecom_rlve.evaluation.agent import call
from ecom_rlve.evaluation.expert.cards import Card, Filters, passes
from ecom_rlve.models import ToolResult

PAGE = 10
MOST = 60
"""Products that pass a search's filters up to which all of them are looked at."""
_WORDINGS = ("{}", "good {}", "{} on offer", "any {}", "nice {}")
"""Queries by which the same products are looked for."""
_PAGES_AT_FIRST = 2
"""Pages that are looked at before it is known how many products pass."""


class Look(NamedTuple):
    """One page of one search."""

    query: str
    sort: str
    offset: int


_IN_WORDS = Look("", "relevance", 0)
"""A search for the noun alone: its results tell what the shop calls the category."""


@dataclass(slots=True)
class Search:
    """What pages with one set of filters have shown."""

    filters: Filters
    total: int | None = None
    """How many products passed at most; None before a page was seen."""
    seen: Counter[str] = field(default_factory=Counter)
    """On how many pages each product was that passes as far as its card tells, in the order of first sight."""
    looked: set[Look] = field(default_factory=set)

    @property
    def is_complete(self) -> bool:
        """Tell whether as many products as pass were seen, or as many as are looked at."""
        return self.total is not None and len(self.seen) >= min(self.total, MOST)


class Shelf:
    """One kind of product."""

    def __init__(self, singular: str, plural: str = "") -> None:
        """The nouns are the customer's; what the shop calls the category is found out by the first searches."""
        self.singular = singular
        self.cards: dict[str, Card] = {}
        """Products of the category as last seen, by id, in the order of first sight."""
        self.whole: set[str] = set()
        """Ids of which everything that the shop knows was shown."""
        self.facets: dict[str, Any] | None = None
        """What products of the category are compared by, where searches tell it."""
        self.category: str | None = None
        self.searches: dict[str, Search] = {}
        self.batch = 0
        """Number of the action whose results are read next; whoever acts counts it."""
        self._first_sights: dict[str, int] = {}
        self._last_sights: dict[str, int] = {}
        """The batches of results in which products were seen first and last, by id."""
        self._names = _likely_names(singular, plural)
        self._guess: str | None = self._names[0]

    def search(self, filters: Filters) -> Search:
        """Return what was seen with these filters, the category's beside."""
        return self.searches.setdefault(repr(sorted(filters.items())), Search(filters))

    def looks(
        self, search: Search, sort: str = "relevance", most: int = MOST, *, words: str = "", is_doubtful: bool = False
    ) -> Iterator[Look]:
        """Yield the pages that are worth a look, those of one wording before those of the next.

        Some results are replaced by others on each page; what they hid is found by other words. ``words`` are looked
        for beside the noun; what is seen may be doubtful even where as many products as pass were seen.
        """
        if self._guess is None:
            yield _IN_WORDS
        is_enough = search.is_complete or len(search.seen) >= most
        if self._guess is None or (is_enough and not is_doubtful):
            return
        expected = PAGE * _PAGES_AT_FIRST if search.total is None else search.total
        pages = max(1, -(-min(expected, most) // PAGE))
        queries = (f"{wording.format(self.singular)} {words}".strip() for wording in _WORDINGS)
        looks = (Look(query, sort, page * PAGE) for query in queries for page in range(pages))
        yield from (look for look in looks if look not in search.looked)

    def call(
        self, search: Search, look: Look, limit: int = PAGE
    ) -> tuple[dict[str, Any], Callable[[ToolResult], None]]:
        """Return the call that takes a look, and what notes its result."""
        if look == _IN_WORDS:
            return call("catalog_search", query=self.singular, limit=PAGE), self._name

        def take(answer: ToolResult) -> None:
            if answer.result is not None:
                search.looked.add(look)
                self._note(search, answer.result)
            elif self.category is None:
                # The guess was no name of the shop's.
                self._guess = None

        args = {"query": look.query, "category": self._guess, "limit": limit, "offset": look.offset or None}
        sort = None if look.sort == "relevance" else look.sort
        return call("catalog_search", **args, sort=sort, **search.filters), take

    def _name(self, answer: ToolResult) -> None:
        """Find out from results in words what the shop calls the category."""
        cards = (answer.result or {}).get("results", [])
        self.category = self._guess = self._named(cards)
        self.see(cards)

    def _note(self, search: Search, result: dict[str, Any]) -> None:
        cards = result["results"]
        self.category = self._guess
        # What has sold out since was counted before, and seen.
        search.total = max(result["total"], search.total or 0)
        self.facets = result.get("facets", self.facets)
        self.see(cards)
        search.seen.update(
            card["product_id"] for card in cards if card["category"] == self.category and passes(card, search.filters)
        )

    def see(self, cards: list[Card], *, are_whole: bool = False) -> None:
        """Note cards that anything has shown; those of other categories are none of this shelf's."""
        for card in cards:
            product_id = card["product_id"]
            if card["category"] != self.category:
                continue
            self.cards[product_id] = {**self.cards.get(product_id, {}), **card}
            self._first_sights.setdefault(product_id, self.batch)
            self._last_sights[product_id] = self.batch
            if are_whole:
                self.whole.add(product_id)

    def may_have_sold_out(self, ranked: Sequence[str], count: int) -> list[str]:
        """Return those of the ``count`` best of ``ranked``, ids in order, that were not seen since they may be gone.

        Things sell out, if they do, after the results that first show them.
        """
        return [each for each in ranked[:count] if self._last_sights[each] <= self._first_sights[each]]

    def again(self, search: Search, sort: str) -> Iterator[Look]:
        """Yield the pages that show once more what passes a search."""
        pages = max(1, -(-min(search.total or 1, MOST) // PAGE))
        yield from (Look(self.singular, sort, page * PAGE) for page in range(pages))

    def look_at(self, product_id: str) -> tuple[dict[str, Any], Callable[[ToolResult], None]]:
        """Return the call that shows one product in full, and what notes its result."""

        def take(answer: ToolResult) -> None:
            if answer.result is not None:
                self.see([answer.result["product"]], are_whole=True)

        return call("catalog_get_product", product_id=product_id), take

    def attributes(self) -> list[str]:
        """Return the attributes that cards show beside what every card does, the most frequent first."""
        counts = Counter(name for card in self.cards.values() for name in card)
        common = ("product_id", "title", "category", "price", "price_from", "in_stock", "brand", "rating", "ship_days")
        whole = ("rating_count", "description", "features", "more")
        return sorted(counts.keys() - {*common, *whole}, key=lambda name: (-counts[name], name))

    def _named(self, cards: list[Card]) -> str | None:
        """Return which category results in words are about: one that is called like the noun, else the most frequent.

        Ties go to the earlier result.
        """
        counts = Counter(card["category"] for card in cards)
        called = [name for name in counts if name.casefold() in self._names]
        return next(iter(called), None) or next((name for name, _ in counts.most_common(1)), None)


def _likely_names(singular: str, plural: str) -> tuple[str, ...]:
    """Return what a shop may call the category of a thing: "pairs of sneakers" are sneakers."""
    whole, tail = singular.casefold(), (plural or singular).casefold().split(" of ")[-1]
    if plural or " of " in singular:
        likely = tail if tail.endswith("s") else f"{tail}s"
    elif tail.endswith(("s", "x", "ch", "sh")):
        likely = f"{tail}es"
    else:
        likely = f"{tail[:-1]}ies" if tail.endswith("y") else f"{tail}s"
    return tuple(dict.fromkeys([likely, tail, whole]))
