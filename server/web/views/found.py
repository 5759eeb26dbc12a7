"""What a search of the catalog found, and why."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ecom_rlve.server.web.views.html import el, note, together
from ecom_rlve.server.web.views.naming import in_words
from ecom_rlve.server.web.views.offers import Offers
from ecom_rlve.server.web.views.results import card


@dataclass(frozen=True, slots=True)
class Match:
    """One product that was found."""

    card: Mapping[str, Any]
    overlap: float
    """Weight of the words that it shares with the query, the rare ones weighing more, as a share of the greatest."""
    where: Mapping[str, Sequence[str]]
    """The words of the query that stand in each of its fields."""
    missing: Sequence[str]
    """The words of the query that stand nowhere in it."""


def found(matches: Sequence[Match], total: int, filters: Collection[str]) -> Markup:
    """Return the best matches with the reasons for each; ``total`` products pass the filters."""
    if not matches:
        return note("No product passes these filters.")
    passed = f" that pass {', '.join(filters)}" if filters else ""
    head = el("p", f"The best {len(matches)} of {total:,} products{passed}.", class_="dim")
    cards = [card(match.card, Offers(), _why(rank, match)) for rank, match in enumerate(matches, 1)]
    return together([head, el("div", together(cards), class_="cards")])


def _why(rank: int, match: Match) -> Markup:
    reasons = [
        el("li", f"{in_words(field)}: ", together(el("mark", word) for word in words))
        for field, words in match.where.items()
    ]
    if match.missing:
        reasons.append(el("li", f"not in it: {', '.join(match.missing)}"))
    if not match.where:
        reasons.append(el("li", "no word in common: the embedder finds its text similar"))
    return el(
        "details",
        el("summary", f"Why it is number {rank}"),
        el("ul", together(reasons)),
        el(
            "p",
            f"Weight of its shared words, rare ones weighing more: {match.overlap:.0%} of the greatest",
            class_="dim",
        ),
        open=rank == 1,
    )
