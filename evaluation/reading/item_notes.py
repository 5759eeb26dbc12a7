"""What the expert knows of one wanted item: the customer's words about it, and what they mean in the shop's terms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ecom_rlve.evaluation.reading import language

Card = dict[str, Any]
Facts = dict[str, str | float]
_NOT_ATTRIBUTES = {"product_id", "title", "category", "price", "price_from", "rating", "ship_days", "in_stock"}
_SHORT_VALUE = 4
UNITS = {
    "weight": "g",
    "wattage": "w",
    "capacity": "ml",
    "battery_life": "h",
    "screen_size": "cm",
    "length": "cm",
}
"""Units in which the shop measures."""


@dataclass(slots=True)
class Vocabulary:
    """Attribute values that results have shown, by category and attribute."""

    values: dict[str, dict[str, set[str | float]]] = field(default_factory=dict)
    size: int = 0
    """Grows with every value learnt."""

    def learn(self, cards: Iterable[Card]) -> None:
        """Remember the values that cards show."""
        for card in cards:
            for name, value in card.items():
                if name not in _NOT_ATTRIBUTES:
                    self.add(card["category"], name, value)

    def add(self, category: str, name: str, value: str | float) -> None:
        """Remember one value."""
        known = self.values.setdefault(category, {}).setdefault(name, set())
        self.size += value not in known
        known.add(value)


@dataclass(slots=True)
class ItemNotes:
    """One wanted item."""

    category: str
    text: str = ""
    """Everything the customer has said of it."""
    asked: set[str] = field(default_factory=set)
    """Attributes asked for; "variant" and "quantity" among them."""
    cards: dict[str, Card] = field(default_factory=dict)
    """Products that the searches with the present filters found and that fit, by id."""
    seen: set[str] = field(default_factory=set)
    """Products that pass the present filters, by id, whether or not they fit what no filter can say."""
    total: int | None = None
    """How many products pass the present filters; None before a search."""
    filters: tuple[Any, ...] = ()
    """The filters of the last search."""
    attempts: int = 0
    """Searches with the present filters."""
    brand_failed: bool = False
    chosen: str | None = None
    """Product id."""
    variants: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Variants by product id."""
    is_fallback: bool = False
    """The customer has settled for this product; any variant will do."""
    is_dropped: bool = False
    is_reported: bool = False
    """The customer was told that it is sold out."""
    line: dict[str, Any] | None = None
    """The cart line that holds it."""
    _facts: tuple[tuple[str, int], Facts] | None = None

    @property
    def noun(self) -> str:
        """What the item is called."""
        return language.noun_forms(self.category)[1]

    @property
    def quantity(self) -> int | None:
        """The number of pieces said last, None where none was."""
        counts = [
            language.count_before(language.noun_forms(self.category), part) for part in language.sentences(self.text)
        ]
        return next((count for count in reversed(counts) if count is not None), None)

    @property
    def variant_attribute(self) -> str | None:
        """The attribute in which this kind of thing comes in variants, None before any were listed."""
        for variants in self.variants.values():
            return next((name for name in variants[0] if name not in ("variant_id", "in_stock")), None)
        return None

    def facts(self, vocabulary: Vocabulary) -> Facts:
        """Return the attribute values that the customer's words name, in the shop's spelling."""
        key = (f"{self.text}|{self.variant_attribute}", vocabulary.size)
        if self._facts is None or self._facts[0] != key:
            self._facts = (key, self._read_facts(vocabulary))
        return self._facts[1]

    def _read_facts(self, vocabulary: Vocabulary) -> Facts:
        found: Facts = {}
        measures = set(language.measures_with_units(self.text))
        for name, values in sorted(vocabulary.values.get(self.category, {}).items()):
            if name == self.variant_attribute:
                continue
            said = language.best_said(sorted(value for value in values if isinstance(value, str)), self.text)
            unit = UNITS.get(name, "")
            numbers = [value for value in values if not isinstance(value, str) and (float(value), unit) in measures]
            if said is not None:
                found[name] = said
            elif len(numbers) == 1:
                found[name] = numbers[0]
        if prices := language.prices(self.text):
            found["price"] = prices[-1]
        return found

    def wanted_variant(self) -> dict[str, Any] | None:
        """Return the chosen product's variant that the customer's words name, None where they name none."""
        variants = self.variants.get(self.chosen or "") or next(iter(self.variants.values()), [])
        attribute = self.variant_attribute
        if self.is_fallback or not variants or attribute is None:
            return None
        spelled = {str(variant[attribute]): variant for variant in variants}
        said = [variant_said(list(spelled), attribute, part) for part in language.sentences(self.text)]
        last = next((value for value in reversed(said) if value is not None), None)
        return spelled[last] if last else None


def variant_said(values: list[str], attribute: str, sentence: str) -> str | None:
    """Return the variant value that a sentence names; a short one only right after the attribute's name."""
    tokens = language.words(sentence)
    label = attribute.split("_")[0][:3]
    for value in sorted(values, key=len, reverse=True):
        measured = language.measures(value)
        if measured:
            if measured[0] in language.measures(sentence):
                return value
        elif len(value) < _SHORT_VALUE:
            named = [at for at, token in enumerate(tokens) if at and token == value.casefold()]
            if any(tokens[at - 1].startswith(label) or tokens[at - 1] in ("in", "sized") for at in named):
                return value
    return language.best_said([value for value in values if len(value) >= _SHORT_VALUE], sentence)


def agrees(card: Card, facts: Facts) -> bool:
    """Tell whether nothing on a card contradicts the facts."""
    return all(name not in card or card[name] == value for name, value in facts.items())


def agreements(card: Card, facts: Facts) -> int:
    """Return how many of the facts a card shows."""
    return sum(card.get(name) == value for name, value in facts.items())
