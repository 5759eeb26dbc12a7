"""What searches with one set of filters have shown, and which of their pages are still worth a look."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ecom_rlve.evaluation.reading.item_notes import Card
from ecom_rlve.evaluation.reading.wishes import FILTERS

Filters = dict[str, Any]
Page = tuple[str, int]
"""Order and offset."""

PAGE = 10
_PAGES = 6
"""Pages of one search that are looked at, at most."""
_SORTS = ("price_asc", "rating_desc", "ship_days_asc", "relevance")


@dataclass(slots=True)
class Candidates:
    """The products that pass one set of filters."""

    filters: Filters
    total: int | None = None
    """How many products pass; None before a search."""
    found: set[str] = field(default_factory=set)
    """Ids of products shown that pass as far as their cards tell."""
    searched: set[Page] = field(default_factory=set)
    """Pages looked at."""

    def pages(self, first: str) -> Iterator[Page]:
        """Yield the pages worth looking at, in order ``first`` before others; none where enough was seen.

        A further order of the same products shows those in whose places other products were shown.
        """
        if self.total is None:
            if not self.searched:
                yield first, 0
            return
        most = min(self.total, PAGE * _PAGES)
        if len(self.found) >= most:
            return
        for sort in (first, *(other for other in _SORTS if other != first)):
            yield from ((sort, offset) for offset in range(0, most, PAGE) if (sort, offset) not in self.searched)

    def take(self, page: Page, result: dict[str, Any] | None) -> None:
        """Note what a page showed; None where the shop refused the search."""
        self.searched.add(page)
        if result is not None:
            self.total = result["total"]
            self.found.update(card["product_id"] for card in result["results"] if passes(card, self.filters))


def passes(card: Card, filters: Filters) -> bool:
    """Tell whether nothing on a card contradicts the filters."""
    for name, wanted in filters.items():
        shown = card.get(name.removesuffix("_min").removesuffix("_max"), wanted)
        if name not in FILTERS.values():
            is_met = shown == wanted
        else:
            is_met = shown <= wanted if name.endswith("_max") else shown >= wanted
        if not is_met:
            return False
    return True


def key_of(filters: Filters) -> str:
    """Return filters as text, the same for equal ones."""
    return repr(sorted(filters.items()))
