"""Variants of products. Every product has some, so that variants do not mark the wanted one (SPEC §6, CART)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.streams import Streams

_FEWEST, _MOST = 6, 8


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant of a product."""

    id: str
    attribute: str
    value: str | float
    """A canonical word, or a number in the attribute's unit."""

    def shown(self) -> dict[str, str | float]:
        """Return the variant as tools show it."""
        unit = ATTRIBUTES[self.attribute].unit
        value = self.value if isinstance(self.value, str) else f"{self.value:g} {unit}"
        return {"variant_id": self.id, self.attribute: value}


def variants_of(shop: Shop, streams: Streams, row: int) -> tuple[Variant, ...]:
    """Return a product's variants, in the order in which this episode's store lists them.

    There are 6 to 8 of them, shuffled: the product's own value of the category's variant attribute, if known, and
    others drawn from that attribute's pool by a hash of episode seed and product id.
    """
    catalog = shop.catalog
    category = catalog.category_of(row)
    attribute, product_id = category.variant_attribute, catalog.ids[row]
    rng = streams.stream("variants", product_id)
    own = catalog.value(row, attribute)
    pool = shop.variant_pool(category)
    others = [value for value in pool if value != own]
    wanted = int(rng.integers(_FEWEST, _MOST + 1)) - (own is not None)
    values = [others[at] for at in rng.permutation(len(others))[:wanted].tolist()]
    if own is not None:
        values.insert(int(rng.integers(len(values) + 1)), own)
    return tuple(
        Variant("v" + streams.digest("variant", product_id, str(value))[:4].hex(), attribute, value) for value in values
    )


def are_named(text: str, variants: Sequence[Variant]) -> list[Variant]:
    """Return the variants that a casefolded text names, by id or by value."""
    return [variant for variant in variants if _is_named(text, variant)]


def _is_named(text: str, variant: Variant) -> bool:
    return any(
        re.search(rf"(?<!\w){re.escape(str(value).casefold())}(?!\w)", text) for value in variant.shown().values()
    )
