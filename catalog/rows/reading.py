"""What one row of a source told."""

from __future__ import annotations

from dataclasses import dataclass

from ecom_rlve.catalog.product import Product
from ecom_rlve.catalog.shop_words.leaf_categories import Leaf


@dataclass(frozen=True, slots=True)
class Reading:
    """One row that became a product, with what only the whole catalog can settle still open. Can be pickled."""

    product: Product
    """``category`` and ``brand`` as this row spells them."""
    leaf: Leaf
    listing: bytes
    """Equal for two rows with the same title and store, case and punctuation aside; 16 bytes."""
