"""Variants of products. Every product has some, so that variants do not mark the wanted one (SPEC §6, CART).

A product of a real shop has its own. Where these are fewer than three, others are made up beside them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.product import Category, OwnVariant
from ecom_rlve.catalog.shop_words.variant_values import variant_values
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.streams import Streams

_FEWEST, _MOST = 6, 8
_FEWEST_OWN = 3
"""With fewer variants of its own, a product gets others."""
_PLENTY = 4
"""Units of a variant with which it can be wanted: more are wanted of nothing."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant of a product."""

    id: str
    attribute: str
    value: str | float
    """A canonical word, or a number in the attribute's unit."""
    price_cents: int | None = None
    """Its own price, where its product's variants have different ones."""
    stock: int | None = None
    """Units of it; None = as many as of the product."""

    def shown(self) -> dict[str, str | float]:
        """Return the variant as tools show it."""
        unit = ATTRIBUTES[self.attribute].unit
        value = self.value if isinstance(self.value, str) else f"{self.value:g} {unit}"
        return {"variant_id": self.id, self.attribute: value}

    def priced(self) -> dict[str, str | float]:
        """Return the variant as tools show it where it can be bought: with its own price, if it has one."""
        return self.shown() if self.price_cents is None else {**self.shown(), "price": self.price_cents / 100}

    @property
    def is_plentiful(self) -> bool:
        """Whether there are as many units of it as a customer may want."""
        return self.stock is None or self.stock >= _PLENTY


def variants_of(shop: Shop, streams: Streams, row: int) -> tuple[Variant, ...]:
    """Return a product's variants, in the order in which this episode's store lists them.

    A product with three variants of its own has these, at most 8. Every other one has 6 to 8, shuffled: its own, its
    own value of the category's variant attribute, if known, and others drawn from that attribute's pool by a hash of
    episode seed and product id.
    """
    catalog = shop.catalog
    category, product_id = catalog.category_of(row), catalog.ids[row]
    rng = streams.stream("variants", product_id)
    attribute, offered = offered_values(category, catalog.own_variants(row))
    is_priced = len({own.price_cents for _, own in offered if own is not None}) > 1

    def made(value: str | float, own: OwnVariant | None) -> Variant:
        variant_id = "v" + streams.digest("variant", product_id, str(value))[:4].hex()
        price = own.price_cents if own is not None and is_priced else None
        return Variant(variant_id, attribute, value, price, None if own is None else own.stock)

    if len(offered) >= _FEWEST_OWN:
        listed = [offered[at] for at in rng.permutation(len(offered)).tolist()]
        if len(listed) > _MOST:
            # The one of which there are most is among them, so that one can be wanted.
            most = max(listed, key=_units)
            listed = [most, *(each for each in listed if each is not most)][:_MOST]
        return tuple(made(*each) for each in listed)
    own = catalog.value(row, attribute)
    known: list[str | float] = [value for value, _ in offered] or ([] if own is None else [own])
    is_usual = attribute == category.variant_attribute
    pool = shop.variant_pool(category) if is_usual else variant_values(category, attribute)
    others = [value for value in pool if value not in known]
    wanted = int(rng.integers(_FEWEST, _MOST + 1)) - len(known)
    drawn = [others[at] for at in rng.permutation(len(others))[:wanted].tolist()]
    for value in known:
        drawn.insert(int(rng.integers(len(drawn) + 1)), value)
    stated: dict[str | float, OwnVariant | None] = dict(offered)
    return tuple(made(value, stated.get(value)) for value in drawn)


def offered_values(
    category: Category, variants: Sequence[OwnVariant]
) -> tuple[str, list[tuple[str | float, OwnVariant | None]]]:
    """Return the attribute in which a product's own variants are offered, and its values, each with its best variant.

    It is the category's if they differ in that, else the one in which most of them differ. Of several variants with
    one value (a size in two colours) the one of which there are most is offered, then the cheapest. A price counts only
    where prices differ.
    """
    best: dict[str, dict[str | float, OwnVariant]] = {}
    for variant in variants:
        for name, value in variant.values.items():
            of_name = best.setdefault(name, {})
            if value not in of_name or _better(variant) > _better(of_name[value]):
                of_name[value] = variant
    names = [name for name in ATTRIBUTES if len(best.get(name, ())) > 1]
    if not names:
        return category.variant_attribute, []
    own = category.variant_attribute
    attribute = own if own in names else max(names, key=lambda name: len(best[name]))
    return attribute, list(best[attribute].items())


def _better(variant: OwnVariant) -> tuple[float, float]:
    return _units((0, variant)), -(variant.price_cents or 0)


def _units(offered: tuple[object, OwnVariant | None]) -> float:
    stock = offered[1].stock if offered[1] else None
    return float("inf") if stock is None else stock


def are_named(text: str, variants: Sequence[Variant]) -> list[Variant]:
    """Return the variants that a casefolded text names, by id or by value."""
    return [variant for variant in variants if _is_named(text, variant)]


def _is_named(text: str, variant: Variant) -> bool:
    return any(
        # The "s" of "it's" is no size.
        re.search(rf"(?<![\w'’]){re.escape(str(value).casefold())}(?!\w)", text)
        for value in variant.shown().values()
    )
