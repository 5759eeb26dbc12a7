"""What was read from one row of a source."""

from __future__ import annotations

from dataclasses import dataclass

from ecom_rlve.catalog.kinds.nouns import Leaf
from ecom_rlve.catalog.product import Product


@dataclass(frozen=True, slots=True)
class Reading:
    """One row as a product. Its final brand and category are open: they depend on the whole catalog. Can be pickled."""

    product: Product
    """The product, with ``category`` and ``brand`` as this row spells them."""
    leaf: Leaf
    listing: bytes
    """Equal for two rows with the same title and store, case and punctuation aside, and the same values and price,
    unless a shop has given each an id of its own; 16 bytes."""
