"""Product cards against what a customer said: does one fit, and which filters of a search say the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf, isfinite
from typing import Any

from ecom_rlve.models import SaidFact

Card = dict[str, Any]
Filters = dict[str, Any]

NUMBER_FILTERS: Mapping[str, str] = {
    "rating": "rating_min",
    "ship_days": "ship_days_max",
    "weight": "weight_max",
    "length": "length_max",
    "wattage": "wattage_min",
    "screen_size": "screen_size_min",
    "capacity": "capacity_min",
    "battery_life": "battery_life_min",
}
"""The one filter that searches have for each number beside the price; its ending tells the direction."""
UNFILTERED = frozenset(("none_of", "between"))
"""Operators of which filters state nothing, or one side only."""
_PRICE_FILTERS = ("price_min", "price_max")
_ALWAYS_SHOWN = frozenset({"brand", "price", "rating", "ship_days"})
"""A card without one of these is of a product of which it is not known, and the unknown fits nothing."""
_CENTS = 100
_CUT = "…"
"""Ends a text of which a card has no room for more."""


def meets(card: Card, fact: SaidFact, *, is_whole: bool = False) -> bool | None:
    """Tell whether a card meets a fact; None where it does not show the attribute.

    ``is_whole`` says that the card shows everything that the shop knows of its product.
    """
    shown = card.get(fact.attribute)
    if shown is None:
        return False if is_whole or fact.attribute in _ALWAYS_SHOWN else None
    if words := words_named(fact):
        if str(shown).endswith(_CUT) and any(word.startswith(str(shown)[:-1]) for word in words):
            return None
        return (shown in words) is (fact.op != "none_of")
    # Prices are said in cents and shown in the catalog's currency.
    number = round(shown * _CENTS) if fact.attribute == "price" else shown
    low, high = limits(fact)
    return bool(low <= number <= high)


def words_named(fact: SaidFact) -> list[str]:
    """Return the words that a fact names; empty if it is about a number."""
    value = fact.value
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]


def limits(fact: SaidFact) -> tuple[float, float]:
    """Return the least and the greatest number that a fact allows; infinite where there is none."""
    value = fact.value
    low, high = value if isinstance(value, list) else (value, value)
    least = -inf if fact.op == "at_most" else float(low)
    return least, inf if fact.op == "at_least" else float(high)


def contradicts(card: Card, facts: Iterable[SaidFact], *, is_whole: bool = False) -> bool:
    """Tell whether a card shows that its product does not meet one of the facts."""
    return any(meets(card, fact, is_whole=is_whole) is False for fact in facts)


def unproved(card: Card, facts: Iterable[SaidFact]) -> list[SaidFact]:
    """Return the facts about attributes that a card does not show."""
    return [fact for fact in facts if meets(card, fact) is None]


def is_titled(card: Card, title: str) -> bool:
    """Tell whether a card may be of the product with this title: where filters fill a card, its title is cut."""
    shown = str(card["title"])
    return shown == title or (shown.endswith(_CUT) and title.startswith(shown.removesuffix(_CUT)))


def filters_of(facts: Iterable[SaidFact]) -> Filters:
    """Return the filters that leave out no product that meets the facts, as narrow as a search can have them.

    Neither "A or B" nor an exclusion is a filter, and of a number that must be met exactly or lie in a range searches
    can state one side only, but for a price.
    """
    filters: Filters = {}
    for fact in facts:
        if isinstance(fact.value, str):
            filters[fact.attribute] = fact.value
        elif not words_named(fact):
            scale = _CENTS if fact.attribute == "price" else 1
            names = _PRICE_FILTERS if fact.attribute == "price" else (NUMBER_FILTERS.get(fact.attribute, ""),)
            for end, limit in zip(("_min", "_max"), limits(fact), strict=True):
                filters |= {name: limit / scale for name in names if name.endswith(end) and isfinite(limit)}
    return filters


def words_of(facts: Iterable[SaidFact]) -> str:
    """Return facts as a shop writes them, to search for: what filters cannot state, words may find."""
    return " ".join(
        fact.value if isinstance(fact.value, str) else f"{float(fact.value):g} {fact.unit}"
        for fact in facts
        if not isinstance(fact.value, list) and fact.attribute != "price"
    )


def passes(card: Card, filters: Filters) -> bool:
    """Tell whether nothing on a card contradicts the filters: what takes a result's place need not pass them."""
    for name, wanted in filters.items():
        shown = card.get(name.removesuffix("_min").removesuffix("_max"))
        if shown is None:
            is_passing = name.removesuffix("_min").removesuffix("_max") not in _ALWAYS_SHOWN
        elif name.endswith("_max"):
            is_passing = shown <= wanted
        elif name.endswith("_min"):
            is_passing = shown >= wanted
        else:
            is_passing = shown == wanted or str(shown).endswith(_CUT)
        if not is_passing:
            return False
    return True
