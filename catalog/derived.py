"""Shipping time and stock: no source states them but a shop needs them, so they are derived from the product's id."""

from __future__ import annotations

from ecom_rlve.streams import Streams

MAX_SHIP_DAYS = 10
MAX_STOCK = 60
SOLD_OUT_SHARE = 0.04
"""Share of products that start with no stock."""

_SHELF = Streams("shelf")


def ship_days_and_stock(product_id: str) -> tuple[int, int]:
    """Return (days until delivery, units on the shelf); they depend on the id only.

    Days are uniform on 1 to 10; stock is 0 for about 4 % of all ids, else uniform on 1 to 60.
    """
    digest = _SHELF.digest(product_id)
    days, shelf, units = (int.from_bytes(digest[at : at + 4], "little") for at in (0, 4, 8))
    stock = 0 if shelf < SOLD_OUT_SHARE * 2**32 else 1 + units % MAX_STOCK
    return 1 + days % MAX_SHIP_DAYS, stock
