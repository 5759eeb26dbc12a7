"""Which products can be recognised by their title alone within their category."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.envs.world.shop import Shop

_BYTES = 32
"""Titles are compared by their first bytes, as many as cards with all attributes usually show."""
_AT_ONCE = 1 << 16
"""Number of titles that are read at once, to save memory."""
_MULTIPLIERS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], dtype=np.uint64
)
_SHIFT = np.uint64(29)


def have_own_title(shop: Shop) -> NDArray[np.bool_]:
    """Tell for each product whether no other of its category has a title with the same beginning.

    Titles are compared by 64-bit hashes. With two million products, two different titles have equal hashes in about one
    of ten million catalogs.
    """
    catalog = shop.catalog
    hashes = np.empty(catalog.size, dtype=np.uint64)
    for start in range(0, catalog.size, _AT_ONCE):
        hashes[start : start + _AT_ONCE] = _beginnings(catalog, start, min(catalog.size, start + _AT_ONCE))
    order = np.argsort(hashes)
    is_repeated = hashes[order[1:]] == hashes[order[:-1]]
    is_own = np.ones(catalog.size, dtype=np.bool_)
    is_own[order[1:][is_repeated]] = False
    is_own[order[:-1][is_repeated]] = False
    return is_own


def shows_own_title(shop: Shop, row: int) -> bool:
    """Tell whether the full card of a product shows enough of its title to tell it from the others."""
    shown = str(shop.full_card(row)["title"]).removesuffix("…")
    return len(shown.encode()) >= _BYTES or shown == shop.catalog.titles[row]


def _beginnings(catalog: Catalog, start: int, stop: int) -> NDArray[np.uint64]:
    """Return a hash of the category and of how the title begins, for each row from ``start`` up to ``stop``."""
    titles = catalog.titles
    offsets = np.asarray(titles.offsets[start : stop + 1])
    blob = np.zeros(int(offsets[-1] - offsets[0]) + _BYTES, dtype=np.uint8)
    blob[:-_BYTES] = titles.blob[offsets[0] : offsets[-1]]
    letters = np.lib.stride_tricks.sliding_window_view(blob, _BYTES)[offsets[:-1] - offsets[0]]
    letters[np.arange(_BYTES) >= np.diff(offsets)[:, None]] = 0
    mixed = catalog.category_codes[start:stop].astype(np.uint64)
    for words, multiplier in zip(letters.view("<u8").T, _MULTIPLIERS, strict=True):
        mixed = (mixed ^ words) * multiplier
        mixed ^= mixed >> _SHIFT
    return np.asarray(mixed)
