"""One thing that a CART customer wants: what was said of it, and which shown products it may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ecom_rlve.training.learning.notebook import how_many
from ecom_rlve.training.learning.skills.cards import Card, Fit, Stated
from ecom_rlve.training.learning.skills.shelf import Search

Variant = dict[str, Any]


class Ranked(NamedTuple):
    """A card with what it has for and against it."""

    card: Card
    fit: Fit
    order: tuple[Any, ...]
    """The smaller, the likelier; cards that are as likely have the same."""

    @property
    def id(self) -> str:
        """Its product id."""
        return str(self.card["product_id"])


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is known of one item."""

    thing: str
    """Its category."""
    called: str
    facts: Sequence[Stated]
    """Of the product: nothing about what its variants differ in."""
    attribute: str
    """What its variants differ in; empty before any were listed."""
    variant: str
    """The variant that was said, as a list of variants shows it; empty if none was."""
    quantity: int
    """0 where nothing was said."""
    ranked: Sequence[Ranked]
    search: Search | None
    """What searches by all that was said have shown; None before there was one."""
    line: dict[str, Any] | None
    """The line of the cart that holds one of its kind."""
    lacks: tuple[str, ...]
    """Which of quantity, variant and brand were neither said nor asked."""
    is_dropped: bool
    """The customer would rather leave it out."""
    replaced_by: str
    """Id of the product that they took for what was sold out; empty if there was none."""

    @property
    def is_complete(self) -> bool:
        """Whether everything was seen that passes by what was said."""
        return self.search is not None and len(self.search.seen) >= self.search.total

    @property
    def likely(self) -> int:
        """Return how many cards are as likely as the likeliest one."""
        return sum(each.order == self.ranked[0].order for each in self.ranked) if self.ranked else 0

    @property
    def fitting(self) -> int:
        """Return how many cards break nothing that was said."""
        return sum(each.fit.broken == 0 for each in self.ranked)

    def features(self) -> tuple[str, ...]:
        """Return what is known of the item as features of whatever may be done for it."""
        is_open = self.line is None and not self.is_dropped
        return (
            f"open:{is_open},{self.is_dropped}",
            f"facts:{how_many(len(self.facts), 4)},{is_open}",
            f"lacks:{','.join(self.lacks)},{is_open}",
            f"clear:{self.clarity()},{is_open}",
            f"looked:{self.looked()},{is_open}",
            f"both:{self.clarity()},{self.looked()}",
        )

    def clarity(self) -> str:
        """Return how clear it is which product is meant."""
        if self.replaced_by:
            return "replaced"
        return f"{how_many(self.fitting)},{how_many(self.likely)}"

    def looked(self) -> str:
        """Return how well the store was searched for it."""
        if self.search is None:
            return "no"
        return f"{self.is_complete},{how_many(self.search.total, 2)}"
