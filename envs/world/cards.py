"""Product cards: what results show of a product, in at most 350 bytes (SPEC §2.4).

A card never holds the attribute in which its product comes in variants. Where attributes have no room, ``more`` says
how many. Those that a search filtered by come first, so that everyone can see whether a result passes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from ecom_rlve.catalog.attributes import DISCRETE, NUMERIC
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.shop_words.currencies import DOLLARS

CARD_BYTES = 350
"""Largest size of a product card as JSON (SPEC §2.4)."""
LEAST_FULL_TITLE = 24
"""Least number of characters of a title that a card with all attributes shows, unless filters leave it less room."""
# A card gets "in_stock" last; this keeps room for it.
_MOST_BYTES = CARD_BYTES - len(', "in_stock": false')
_MORE_BYTES = len(', "more": 10')
_CARD_TITLE = 110
_LEAST_TITLE = 8
_COMPACT = (",", ":")
_ENCODERS = {each: json.JSONEncoder(ensure_ascii=False, separators=each) for each in (None, _COMPACT)}
"""Made once: ``json.dumps`` makes one for each card."""

Separators = tuple[str, str] | None


def plain_card(catalog: Catalog, row: int, first: Collection[str] = ()) -> dict[str, Any]:
    """Return a product's card without its stock: the title, then as many attributes as fit, those in ``first`` first.

    The title is cut only if those in ``first`` have no room otherwise. Where there are any, the size is measured
    without blanks, as it is sent.
    """
    return _card(catalog, row, _CARD_TITLE, first, _COMPACT if first else None)


def full_card(catalog: Catalog, row: int, first: Collection[str] = ()) -> dict[str, Any]:
    """Return a card that shows attributes before the title, which gets the room that they leave.

    Its size is measured without blanks, as it is sent.
    """
    card = _card(catalog, row, LEAST_FULL_TITLE, first, _COMPACT)
    whole = shortened(catalog.titles[row], _CARD_TITLE)
    while len(whole) > len(card["title"]) and _bytes({**card, "title": whole}, _COMPACT) > _MOST_BYTES:
        whole = shortened(whole, len(whole) * 15 // 16)
    return {**card, "title": whole} if len(whole) > len(card["title"]) else card


def named_currency(catalog: Catalog) -> dict[str, str]:
    """Return the currency as tools show it beside amounts; nothing for dollars, which are meant where none is named."""
    code = catalog.currency
    return {} if code in (None, DOLLARS) else {"currency": str(code)}


def shortened(text: str, most: int) -> str:
    """Return ``text`` cut at a word boundary to at most ``most`` characters, with an ellipsis if it was cut."""
    if len(text) <= most:
        return text
    return text[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;-") + "…"


def _card(catalog: Catalog, row: int, title: int, first: Collection[str], separators: Separators) -> dict[str, Any]:
    known = _known(catalog, row, first)
    while True:
        card = _filled(_headed(catalog, row, title), known, separators)
        if title <= _LEAST_TITLE or all(name in card for name in first if name in known):
            return card
        title = max(_LEAST_TITLE, len(card["title"]) * 7 // 8)


def _known(catalog: Catalog, row: int, first: Collection[str]) -> dict[str, str | float]:
    """Return a product's known attributes in the order in which they get room on its card."""
    variant = catalog.category_of(row).variant_attribute
    # Numbers come before words: a filter can ask for a word exactly, but bounds a number from one side only.
    names = dict.fromkeys((*first, *NUMERIC, *DISCRETE))
    return catalog.known(row, [name for name in names if name != variant])


def _headed(catalog: Catalog, row: int, title: int) -> dict[str, Any]:
    """Return a card without attributes; its title has ``title`` characters or fewer if the card is too large."""
    card: dict[str, Any] = {
        "product_id": catalog.ids[row],
        "title": shortened(catalog.titles[row], title),
        "category": catalog.category_of(row).name,
    }
    brand, price, rating = (catalog.value(row, name) for name in ("brand", "price", "rating"))
    if brand is not None:
        card["brand"] = shortened(str(brand), 40)
    if price is not None:
        floors = catalog.column("price").is_floor
        card["price_from" if floors is not None and floors[row] else "price"] = int(price) / 100
        card |= named_currency(catalog)
    if rating is not None:
        card["rating"] = rating
    card["ship_days"] = int(catalog.column("ship_days").values[row])
    while _bytes(card) > _MOST_BYTES - _MORE_BYTES:
        name = max(("title", "brand"), key=lambda name: len(card.get(name, "")))
        if len(card[name]) <= _LEAST_TITLE:
            break
        card[name] = shortened(card[name], len(card[name]) * 7 // 8)
    return card


def _filled(card: dict[str, Any], known: Mapping[str, str | float], separators: Separators) -> dict[str, Any]:
    """Add as many attributes to the card as fit, and ``more`` if some do not; return it."""
    room = _MOST_BYTES - _bytes(card, separators)
    sizes = {name: _entry_bytes(name, value, separators) for name, value in known.items()}
    if sum(sizes.values()) > room:
        room -= _MORE_BYTES
        fitting: list[str] = []
        for name, size in sizes.items():
            if size <= room:
                fitting.append(name)
                room -= size
        return {**card, **{name: known[name] for name in fitting}, "more": len(known) - len(fitting)}
    return {**card, **known}


@lru_cache(maxsize=1 << 14)
def _entry_bytes(name: str, value: str | float, separators: Separators) -> int:
    """Return how many bytes an attribute adds to a card; cached, because values repeat.

    The values of one attribute all have one type, so that equal values of different types do not meet in the cache.
    """
    return _bytes({name: value}, separators) + 1


def _bytes(card: Mapping[str, Any], separators: Separators = None) -> int:
    return len(_ENCODERS[separators].encode(card).encode())
