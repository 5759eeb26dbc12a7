"""The typed attributes a product may have, and what sentences and tools need to know about each.

The set is closed. Loaders map what they read onto these names; filters and customers' words are generated from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Attribute:
    """One typed attribute."""

    name: str
    """Column and filter name."""
    label: str
    """What a person calls it."""
    kind: Literal["discrete", "numeric"]
    unit: str = ""
    """Canonical unit of a numeric attribute; empty for discrete ones."""
    better: Literal["at_most", "at_least"] | None = None
    """The bound that a shopper would set on a numeric attribute, at least or at most; None for discrete ones."""
    words: tuple[str, ...] = ()
    """Other words with which a question may name it."""


def _discrete(name: str, label: str, *words: str) -> Attribute:
    return Attribute(name, label, "discrete", words=words)


def _at_least(name: str, label: str, unit: str, *words: str) -> Attribute:
    return Attribute(name, label, "numeric", unit, "at_least", words)


def _at_most(name: str, label: str, unit: str, *words: str) -> Attribute:
    return Attribute(name, label, "numeric", unit, "at_most", words)


ATTRIBUTES: dict[str, Attribute] = {
    attribute.name: attribute
    for attribute in (
        _discrete("color", "colour", "color", "colors", "colours", "shade"),
        _discrete("size", "size", "sizes", "sizing"),
        _discrete("material", "material", "materials", "fabric", "made of", "made from"),
        _discrete("style", "style", "styles", "design"),
        _discrete("pattern", "pattern", "patterns", "print"),
        _discrete("connector_type", "connector", "connector type", "connectors", "plug", "port"),
        _discrete("item_form", "form", "item form", "texture", "consistency"),
        _discrete("finish_type", "finish", "finish type", "finishes"),
        _discrete("skin_type", "skin type", "skin types", "kind of skin"),
        _discrete("age_range", "age range", "age", "ages", "how old"),
        _discrete("scent", "scent", "scents", "fragrance", "smell"),
        _discrete("flavor", "flavour", "flavor", "flavors", "flavours", "taste"),
        _discrete("model", "model", "model name", "series", "line", "product line"),
        _at_least("wattage", "wattage", "W", "watts", "watt", "power"),
        _at_most("weight", "weight", "g", "weigh", "heavy", "how light", "grams"),
        _at_least("screen_size", "screen size", "cm", "screen", "display size"),
        _at_least("capacity", "capacity", "ml", "volume", "litres", "liters"),
        _at_least("battery_life", "battery life", "h", "battery", "how long does it run"),
        _at_most("length", "length", "cm", "how long", "lengths"),
    )
}
"""All typed attributes by name, in the order in which schemas and cards list them."""

DISCRETE: tuple[str, ...] = tuple(name for name, attribute in ATTRIBUTES.items() if attribute.kind == "discrete")
NUMERIC: tuple[str, ...] = tuple(name for name, attribute in ATTRIBUTES.items() if attribute.kind == "numeric")
