"""Which products a title alone tells from the others of their category."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.envs.shop import Shop

_BYTES = 32
"""What counts of a title: so many of its first bytes, which cards with all attributes usually show."""


def have_own_title(shop: Shop) -> NDArray[np.bool_]:
    """Tell for each product whether no other of its category has a title that begins alike; made once."""
    return shop.derive(_have_own_title)


def shows_own_title(shop: Shop, row: int) -> bool:
    """Tell whether the full card of a product with its own title shows as much of it as tells it from others."""
    shown = str(shop.full_card(row)["title"]).removesuffix("…")
    return len(shown.encode()) >= _BYTES or shown == shop.catalog.titles[row]


def _have_own_title(shop: Shop) -> NDArray[np.bool_]:
    catalog, titles = shop.catalog, shop.catalog.titles
    is_own = np.zeros(catalog.size, dtype=np.bool_)
    for category in catalog.categories:
        rows = catalog.rows_of_category(category.name)
        at = titles.offsets[rows][:, None] + np.arange(_BYTES)
        is_inside = at < titles.offsets[rows + 1][:, None]
        letters = np.where(is_inside, titles.blob[np.where(is_inside, at, 0)], 0).astype(np.uint8)
        _, group, count = np.unique(letters, axis=0, return_inverse=True, return_counts=True)
        is_own[rows] = count[group.ravel()] == 1
    return is_own
