"""What an episode's tool results have shown so far: products, ids, and the cart as it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ecom_rlve.models import ToolResult

_SHOWING = {"catalog_search", "user_get_visit_history", "order_list", "order_get"}
"""Tools whose results show a product, so that its id may be handed in (SPEC §4)."""


class Seen:
    """What a person has seen; grows with every tool result."""

    def __init__(self) -> None:
        self._titles: dict[str, str] = {}
        self._shown: set[str] = set()
        self._ids: dict[str, dict[str, str]] = {}
        self._cart: dict[str, Mapping[str, Any]] = {}
        self.currency = ""
        """The code that results name beside amounts; empty where they name none: dollars."""

    def take(self, result: ToolResult) -> None:
        """Take in one result."""
        for thing in _things(result.result):
            self._note(thing, counts=result.name in _SHOWING)
            self.currency = thing.get("currency", self.currency)
        if result.result is not None and result.name.startswith("cart_"):
            self._follow_cart(result.result)

    def known(self, name: str) -> dict[str, str]:
        """Return the ids that fit an argument, such as ``new_product_id`` or ``product_ids``, each with a note."""
        one = name.removesuffix("s")
        return next((dict(ids) for kind, ids in self._ids.items() if one.endswith(kind)), {})

    def all_ids(self) -> dict[str, str]:
        """Return every id that was seen, with a note."""
        return {each: note for ids in self._ids.values() for each, note in ids.items()}

    def named(self, product_id: str) -> str:
        """Return a product's id, and its title where that was seen."""
        title = self._titles.get(product_id)
        return f"{product_id} ({title})" if title else product_id

    def never_shown(self, answer: Mapping[str, Any]) -> list[str]:
        """Return the product ids of an answer and of the cart that no result has shown."""
        handed = [each for name, value in answer.items() if "product_id" in name for each in _listed(value)]
        handed += [str(line["product_id"]) for line in self.cart if "product_id" in line]
        return sorted(set(handed) - self._shown)

    @property
    def cart(self) -> list[Mapping[str, Any]]:
        """The cart's lines, as the results of cart tools showed them last."""
        return list(self._cart.values())

    def _note(self, thing: Mapping[str, Any], *, counts: bool) -> None:
        title = str(thing.get("title", ""))
        for name, value in thing.items():
            if not name.endswith("_id") or not isinstance(value, str):
                continue
            self._ids.setdefault(name, {}).setdefault(value, title or _described(thing))
            if name == "product_id":
                self._titles.setdefault(value, title)
                self._shown |= {value} if counts else set()

    def _follow_cart(self, found: Mapping[str, Any]) -> None:
        if "lines" in found:
            self._cart = {line["line_id"]: line for line in found["lines"]}
        if "line" in found:
            self._cart[found["line"]["line_id"]] = found["line"]
        self._cart.pop(str(found.get("removed")), None)


def _things(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield every object in a result."""
    if isinstance(value, Mapping):
        yield value
        for each in value.values():
            yield from _things(each)
    elif isinstance(value, list):
        for each in value:
            yield from _things(each)


def _described(thing: Mapping[str, Any]) -> str:
    """Return the plain words of an object without a title, such as a variant or an order."""
    return ", ".join(str(value) for name, value in thing.items() if isinstance(value, str) and not name.endswith("_id"))


def _listed(value: object) -> list[str]:
    return [str(each) for each in (value if isinstance(value, list) else [value])]
