"""One product and one leaf category, as plain immutable records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

UNKNOWN_KIND = "other items"
"""The name of the category of products of which nobody can say what they are; see :attr:`Category.is_kind`."""


@dataclass(frozen=True, slots=True)
class Category:
    """A leaf category."""

    name: str
    """Unique lower-case name, as filters and cards spell it: ``"throw blankets"``."""
    path: tuple[str, ...]
    """From the department down to the leaf, as shown to people."""
    singular: str
    """What one such thing is called in a sentence: ``"throw blanket"``."""
    plural: str
    """What several are called: ``"throw blankets"``."""
    variant_attribute: str
    """The typed attribute in which a product of this category comes in variants."""

    @property
    def department(self) -> str:
        """The first element of the path."""
        return self.path[0]

    @property
    def is_kind(self) -> bool:
        """Whether it is a thing that one can buy. Products of the only other category are found but never wanted."""
        return self.name != UNKNOWN_KIND


@dataclass(frozen=True, slots=True)
class OwnVariant:
    """A variant of a product that its shop states."""

    values: Mapping[str, str | float]
    """What it differs in from the others: typed attributes by name, canonical as those of products."""
    price_cents: int | None = None
    """Integer cents in the product's currency; None = unknown."""
    stock: int | None = None
    """Units of it; None = not stated."""


@dataclass(frozen=True, slots=True)
class Product:
    """One product; ``None`` always means unknown, never zero or empty."""

    id: str
    """Unique, not a sequence."""
    title: str
    category: str
    """Name of its leaf :class:`Category`."""
    description: str = ""
    features: tuple[str, ...] = ()
    brand: str | None = None
    store: str | None = None
    price_cents: int | None = None
    """Integer cents."""
    price_is_floor: bool = False
    """True where the source said "from 12.99": the price is a lower bound."""
    price_high_cents: int | None = None
    """Integer cents: upper end of a price range; None where there is none."""
    currency: str | None = None
    """ISO 4217 code; None = not known. Amounts are never converted: a product priced in another currency than its
    catalog's has no ``price_cents``."""
    rating: float | None = None
    """0 to 5."""
    rating_count: int = 0
    ship_days: int = 0
    """Days until delivery, 1 to 10."""
    stock: int = 0
    """Units on the shelf."""
    attributes: Mapping[str, str | float] = field(default_factory=dict)
    """Known typed attributes by name: canonical values of discrete ones, numbers in canonical units."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    """What fields were read from, where it had to be interpreted: field -> "source key: raw text", the raw text cut at
    80 characters: ``{"color": "details.Color: Navy Blue", "price": "price: from 12.99"}``."""
    variants: tuple[OwnVariant, ...] = ()
    """The variants that its shop states, two or more; empty where it states none."""
