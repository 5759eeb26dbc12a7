"""One wanted item of a cart: what was said of it, which products it may be, and what has to be done for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ecom_rlve.evaluation.agent import call
from ecom_rlve.evaluation.expert.cards import Card, contradicts, filters_of, meets, unproved
from ecom_rlve.evaluation.expert.heard import HeardItem
from ecom_rlve.evaluation.expert.interview import Topic
from ecom_rlve.evaluation.expert.scripted import Sent
from ecom_rlve.evaluation.expert.shelf import Search, Shelf
from ecom_rlve.evaluation.expert.skill import Skill
from ecom_rlve.models import SaidFact, ToolResult

_NOT_OF_THE_PRODUCT = ("quantity", "variant")
_CERTAIN = 2
"""Pages that must have shown a product whose card does not show all that was said."""


@dataclass(slots=True)
class Wanted:
    """One item."""

    heard: HeardItem
    shelf: Shelf
    visited: set[str]
    """Ids of what the customer has looked at; shared by all items."""
    is_replaced: bool
    """Some results may be replaced by others, which need not pass."""
    filters: bool
    """Searches filter by what was said."""
    chosen: str | None = None
    """Product id."""
    is_fallback: bool = False
    """The customer has settled for the chosen product; any variant will do."""
    is_dropped: bool = False
    is_reported: bool = False
    """The customer was told that it is sold out."""
    is_given_up: bool = False
    """It cannot be had, and this agent does not mind."""
    refused: set[str] = field(default_factory=set)
    """Ids of products that it is not."""
    variants: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """As last listed, by product id."""
    line: dict[str, Any] | None = None
    """The cart line that holds it."""
    strays: list[str] = field(default_factory=list)
    """Cart lines that held it before the customer wanted it otherwise."""

    def topic(self, name: str) -> Topic:
        """Return how to ask for one fact of this item."""
        return Topic(name, self.heard.singular, self.heard.plural)

    @property
    def facts(self) -> list[SaidFact]:
        """What was said of the product."""
        return [fact for fact in self.heard.latest() if fact.slot not in _NOT_OF_THE_PRODUCT]

    @property
    def quantity(self) -> int | None:
        """The number of pieces; None where it was not said."""
        fact = self.heard.facts.get("quantity")
        return int(str(fact.value).split(".")[0]) if fact else None

    @property
    def search(self) -> Search:
        """What searches with everything that was said have shown."""
        return self.shelf.search(filters_of(self.facts) if self.filters else {})

    def pool(self) -> list[str]:
        """Return the ids of what it may be, the likeliest first.

        What was visited is likelier by far: of the many products of a kind, customers have looked at three. Then what
        more pages have shown, and what shows more of what was said.
        """
        facts, search = self.facts, self.search
        cards = {
            product_id: card
            for product_id, card in self.shelf.cards.items()
            if product_id not in self.refused
            and (product_id in search.seen or not search.is_complete)
            and not contradicts(card, facts)
        }
        return sorted(
            cards,
            key=lambda product_id: (
                product_id not in self.visited,
                not cards[product_id]["in_stock"],
                -search.seen[product_id],
                len(unproved(cards[product_id], facts)),
            ),
        )

    def is_singled_out(self) -> bool:
        """Tell whether no more questions are needed: one product passes, and one that may be it was seen."""
        return self.search.is_complete and len(self.pool()) == 1

    def is_certain(self, pool: list[str]) -> bool:
        """Tell whether it can be nothing else than the first of the pool."""
        search = self.search
        if len(pool) != 1 or not search.is_complete:
            return False
        least = _CERTAIN if self.is_replaced else 1
        return search.seen[pool[0]] >= least or not unproved(self.shelf.cards[pool[0]], self.facts)

    def closest(self) -> str | None:
        """Return the shown product that meets most of what was said, the earliest of equals; None before any."""
        facts = self.facts

        def agreements(card: Card) -> int:
            return sum(bool(meets(card, fact)) for fact in facts)

        cards = [card for product_id, card in self.shelf.cards.items() if product_id not in self.refused]
        best = max(cards, key=agreements, default=None)
        return best["product_id"] if best else None

    def wanted_variant(self) -> dict[str, Any] | None:
        """Return the chosen product's variant that was said; None where any will do or none was listed."""
        fact = self.heard.facts.get("variant")
        if fact is None or self.is_fallback:
            return None
        spelled = f"{float(fact.value):g} {fact.unit}" if isinstance(fact.value, int | float) else str(fact.value)
        listed = self.variants.get(self.chosen or "", [])
        return next((variant for variant in listed if variant.get(fact.attribute) == spelled), None)

    def has_to_list(self) -> bool:
        """Tell whether variants have to be listed: one of them is wanted."""
        return "variant" in self.heard.facts and not self.is_fallback

    def needs_variants(self) -> bool:
        """Tell whether the chosen product's variants still have to be listed."""
        return self.has_to_list() and self.chosen is not None and self.chosen not in self.variants

    def likely_to_list(self) -> str | None:
        """Return the product whose variants may soon be needed; None where none is wanted or it was listed."""
        likeliest = next(iter(self.pool()), None) if self.has_to_list() and self.search.is_complete else None
        return None if likeliest in self.variants else likeliest

    def is_sold_out(self) -> bool:
        """Tell whether the chosen product, or its variant that is wanted, was last seen to be sold out."""
        variant = self.wanted_variant()
        if self.chosen is None or (self.line is not None and (variant is None or _is_line_of(self.line, variant))):
            return False
        card = self.shelf.cards.get(self.chosen)
        return (variant is not None and not variant["in_stock"]) or (card is not None and not card["in_stock"])

    def named(self) -> str:
        """Return title and id of the chosen product, and the variant that is wanted."""
        variant = self.wanted_variant()
        value = next((each for name, each in (variant or {}).items() if name not in ("variant_id", "in_stock")), None)
        title = self.shelf.cards.get(self.chosen or "", {}).get("title", "")
        return f"{title} ({self.chosen}){f' in {value}' if value else ''}"

    def list_variants(self, product_id: str) -> Sent:
        """Return the call that lists the variants of a product."""

        def take(answer: ToolResult) -> None:
            self.variants[product_id] = (answer.result or {}).get("variants", [])

        return call("catalog_get_variants", product_id=product_id), take

    def put(self, skill: Skill) -> list[Sent]:
        """Return the calls that bring it into the cart as wanted, or nearer to it; empty where nothing is to be done.

        Who guesses puts one piece of any variant into the cart first. What is in the cart does not sell out, so another
        variant goes in before the one that was wanted goes out.
        """
        if self.chosen is None or self.is_given_up or (self.is_sold_out() and skill.minds_stock):
            return self.clear()
        is_guess = skill.guesses and self.line is None
        variant = None if is_guess else self.wanted_variant()
        quantity = 1 if is_guess else self.quantity or 1
        if self.line is not None and variant is not None and not _is_line_of(self.line, variant):
            self.strays.append(self.line["line_id"])
            self.line = None
        if self.line is not None and self.line["quantity"] == quantity:
            return self.clear()
        if self.line is None:
            variant_id = variant["variant_id"] if variant else None
            made = call("cart_add", product_id=self.chosen, variant_id=variant_id, quantity=quantity)
        else:
            made = call("cart_set_quantity", line_id=self.line["line_id"], quantity=quantity)

        def take(answer: ToolResult) -> None:
            if answer.result is not None:
                self.line = answer.result.get("line")
            elif answer.code == "OUT_OF_STOCK":
                self.is_given_up = not skill.minds_stock or self.is_reported
                sold_out = variant or self.shelf.cards.get(self.chosen or "", {})
                sold_out["in_stock"] = False

        return [(made, take), *self.clear()]

    def clear(self) -> list[Sent]:
        """Return the calls that take out of the cart what held it before; all that did where it is not wanted."""
        if self.is_dropped and self.line is not None:
            self.strays.append(self.line["line_id"])
            self.line = None
        return [self._remove(line_id) for line_id in self.strays]

    def _remove(self, line_id: str) -> Sent:
        return call("cart_remove", line_id=line_id), lambda _: self.strays.remove(line_id)


def _is_line_of(line: dict[str, Any], variant: dict[str, Any]) -> bool:
    return all(line.get(name) == value for name, value in variant.items() if name not in ("variant_id", "in_stock"))
