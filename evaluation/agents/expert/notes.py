"""What the expert knows of one wanted item: the customer's words about it, and what they mean in the shop's terms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ecom_rlve.evaluation.agents.expert import language

Card = dict[str, Any]
_NOT_ATTRIBUTES = {"product_id", "title", "category", "price", "price_from", "rating", "ship_days", "in_stock"}


@dataclass(slots=True)
class Vocabulary:
    """Attribute values that results have shown, by category and attribute."""

    values: dict[str, dict[str, set[str | float]]] = field(default_factory=dict)

    def learn(self, cards: Iterable[Card]) -> None:
        """Remember the values that cards show."""
        for card in cards:
            known = self.values.setdefault(card["category"], {})
            for name, value in card.items():
                if name not in _NOT_ATTRIBUTES:
                    known.setdefault(name, set()).add(value)


@dataclass(slots=True)
class ItemNotes:
    """One wanted item."""

    text: str
    """Everything the customer has said of it."""
    category: str | None = None
    asked: set[str] = field(default_factory=set)
    """Attributes asked for; "variant" and "quantity" among them."""
    cards: dict[str, Card] = field(default_factory=dict)
    """Products that filtered searches found, by id, best first."""
    total: int | None = None
    """How many products pass the filters of the last search; None before one."""
    searched: tuple[Any, ...] = ()
    """What the last search was for, so that it is not repeated."""
    attempts: int = 0
    chosen: str | None = None
    """Product id."""
    variant_attribute: str | None = None
    variants: list[dict[str, Any]] | None = None
    is_fallback: bool = False
    """The customer has settled for this product; any variant will do."""
    is_dropped: bool = False
    line: dict[str, Any] | None = None
    """The cart line that holds it."""

    @property
    def noun(self) -> str:
        """What the item is called."""
        return language.singular(self.category or "item")

    @property
    def quantity(self) -> int | None:
        """The number of pieces said last, None where none was."""
        counts = [
            count
            for sentence in language.sentences(self.text)
            if (count := language.count_before((self.category or "item", self.noun), sentence)) is not None
        ]
        return counts[-1] if counts else None

    def facts(self, vocabulary: Vocabulary) -> dict[str, str | float]:
        """Return the attribute values that the customer's words name, in the shop's spelling."""
        found: dict[str, str | float] = {}
        measures = language.measures(self.text)
        for name, values in sorted(vocabulary.values.get(self.category or "", {}).items()):
            if name == self.variant_attribute:
                continue
            words = sorted(value for value in values if isinstance(value, str))
            said = language.best_said(words, self.text)
            numbers = [value for value in values if not isinstance(value, str) and float(value) in measures]
            if said is not None:
                found[name] = said
            elif len(numbers) == 1:
                found[name] = numbers[0]
        if prices := language.prices(self.text):
            found["price"] = prices[-1]
        return found

    def wanted_variant(self) -> dict[str, Any] | None:
        """Return the listed variant that the customer's words name, None where they name none."""
        if self.is_fallback or not self.variants or self.variant_attribute is None:
            return None
        spelled = {str(variant[self.variant_attribute]): variant for variant in self.variants}
        said: tuple[int, str] | None = None
        for number, sentence in enumerate(language.sentences(self.text)):
            value = _variant_said(list(spelled), self.variant_attribute, sentence)
            if value is not None:
                said = (number, value)
        return spelled[said[1]] if said else None


def _variant_said(values: list[str], attribute: str, sentence: str) -> str | None:
    """Return the variant value that a sentence names; a short one only right after the attribute's name."""
    label = attribute.replace("_", " ")
    for value in sorted(values, key=len, reverse=True):
        measured = language.measures(value)
        if measured:
            if measured[0] in language.measures(sentence):
                return value
        elif len(value) < 4 or value[0].isdigit():
            tokens, target = language.words(sentence), language.words(value)
            for at in range(1, len(tokens) - len(target) + 1):
                is_named = tokens[at - 1].startswith(label[:3]) or tokens[at - 1] in ("in", "sized")
                if tokens[at : at + len(target)] == target and is_named:
                    return value
    return language.best_said([value for value in values if len(value) >= 4 and not value[0].isdigit()], sentence)


def agrees(card: Card, facts: dict[str, str | float]) -> bool:
    """Tell whether nothing on a card contradicts the facts."""
    return all(name not in card or card[name] == value for name, value in facts.items())


def agreements(card: Card, facts: dict[str, str | float]) -> int:
    """Return how many of the facts a card shows."""
    return sum(card.get(name) == value for name, value in facts.items())
