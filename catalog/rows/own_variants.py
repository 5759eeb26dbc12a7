"""The variants that a shop itself states for a product: its options as typed attributes, with price and stock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ecom_rlve.catalog.attributes import ATTRIBUTES, NUMERIC
from ecom_rlve.catalog.product import OwnVariant
from ecom_rlve.catalog.rows.measures import numeric_attributes
from ecom_rlve.catalog.rows.provenance import Details
from ecom_rlve.catalog.rows.text import clean_text, is_mojibake
from ecom_rlve.catalog.rows.typed_attributes import ProductText, discrete_attributes
from ecom_rlve.catalog.shop_words.prices import parse_price

MOST = 100
"""So many variants of a product are kept; a store lists no more on a page."""
_MAX_VALUE = 40
_MAX_STOCK = 2**31 - 1
_DETAIL = {
    "screen_size": "Screen Size",
    "battery_life": "Battery Life",
    "weight": "Item Weight",
    "length": "Item Length",
}
"""The detail that states a numeric attribute, where it is not the attribute's own name."""
_OPTIONS: dict[str, str] = {
    **dict.fromkeys(("color", "colour", "colors", "colours", "shade", "farbe", "couleur", "kleur", "färg"), "color"),
    **dict.fromkeys(("size", "sizes", "shoe size", "ring size", "clothing size", "größe", "grösse", "taille"), "size"),
    **dict.fromkeys(("talla", "maat", "storlek", "taglia"), "size"),
    **dict.fromkeys(("material", "fabric", "metal", "wood", "materials"), "material"),
    **dict.fromkeys(("style", "design", "type", "model", "version", "edition"), "style"),
    **dict.fromkeys(("pattern", "print"), "pattern"),
    **dict.fromkeys(("finish", "finish type"), "finish_type"),
    **dict.fromkeys(("scent", "fragrance"), "scent"),
    **dict.fromkeys(("flavor", "flavour", "taste"), "flavor"),
    **dict.fromkeys(("connector", "connector type", "plug"), "connector_type"),
    **dict.fromkeys(("capacity", "volume"), "capacity"),
    **dict.fromkeys(("weight", "net weight"), "weight"),
    **dict.fromkeys(("length", "cable length"), "length"),
    **dict.fromkeys(("wattage", "power"), "wattage"),
    "screen size": "screen_size",
    "age range": "age_range",
    "skin type": "skin_type",
}
"""The attribute that an option states, by its name in small letters."""


def own_variants(raw: object, currency: object = None) -> tuple[OwnVariant, ...]:
    """Read the field ``variants`` of a row: a list of objects with ``options``, ``price`` and ``stock``.

    Options that are no typed attribute are left out. Of variants that are then equal the first that is in stock is
    kept. Empty where fewer than two are left, for one is no choice.
    """
    if not isinstance(raw, list):
        return ()
    found: dict[tuple[tuple[str, str | float], ...], OwnVariant] = {}
    for each in raw:
        values = _values(each.get("options")) if isinstance(each, dict) else {}
        if not values:
            continue
        variant = OwnVariant(values, parse_price(each.get("price"), currency).low_cents, _stock(each.get("stock")))
        key = tuple(sorted(values.items()))
        if key not in found or found[key].stock == 0:
            found[key] = variant
    return tuple(found.values())[:MOST] if len(found) > 1 else ()


def _values(options: object) -> dict[str, str | float]:
    return dict(_stated(options)) if isinstance(options, dict) else {}


def _stated(options: Mapping[Any, Any]) -> Iterator[tuple[str, str | float]]:
    for name, raw in options.items():
        attribute = _OPTIONS.get(" ".join(str(name).casefold().split()))
        if attribute is None or not isinstance(raw, str):
            continue
        value = _number(attribute, raw) if attribute in NUMERIC else _word(attribute, raw)
        if value is not None:
            yield attribute, value


def _number(attribute: str, raw: str) -> float | None:
    details = Details.of({_DETAIL.get(attribute, attribute): raw})
    stated = numeric_attributes(details).get(attribute)
    return stated.value if stated else None


def _word(attribute: str, raw: str) -> str | None:
    """Return the value as the vocabulary spells it, or else as the shop does."""
    text = clean_text(raw)
    if not text or len(text) > _MAX_VALUE or is_mojibake(text) or text.startswith("$"):
        return None
    details = Details.of({ATTRIBUTES[attribute].name.replace("_", " "): text})
    known = discrete_attributes(details, ProductText.of(text, (), "", None)).get(attribute)
    return known.value if known else text.casefold()


def _stock(raw: object) -> int | None:
    return min(raw, _MAX_STOCK) if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0 else None
