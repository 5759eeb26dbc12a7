"""Prices as shops write them, read into integer cents of US dollars without rounding.

What is not plainly a positive price is unknown: "—", "None", nothing, NaN, zero, a negative number, a foreign currency
and an amount that is no whole number of cents. "from 12.99", "12.99+" and "10.99 - 15.99" are lower bounds.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

_MAX_CENTS = 10**11
"""Larger amounts are misread numbers (ids, barcodes), and would leave the exactly representable range of a column."""
_AMOUNT = r"(?:us\$|\$)?\s*(?P<{0}>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:\s*(?:usd|us\$|\$))?"
_PRICE = re.compile(
    r"(?P<floor>from|starting\s+(?:at|from)|as\s+low\s+as|at\s+least)?:?\s*(?:usd\s*)?"
    + _AMOUNT.format("low")
    + r"\s*(?:(?P<plus>\+|and\s+up)|(?:-|–|—|to)\s*(?:usd\s*)?"
    + _AMOUNT.format("high")
    + r")?",
    re.ASCII,
)


class Price(NamedTuple):
    """A price as far as it is known."""

    cents: int | None
    """Integer cents, above 0; None = unknown."""
    is_floor: bool = False
    """True where ``cents`` is only a lower bound."""


UNKNOWN_PRICE = Price(None)


def parse_price(raw: object) -> Price:
    """Read a price from a number or a text; everything else, and whatever is not plainly a price, is unknown.

    >>> parse_price(10.99), parse_price("from $1,299.00")
    (Price(cents=1099, is_floor=False), Price(cents=129900, is_floor=True))
    >>> parse_price("10.99 - 15.99"), parse_price("—")
    (Price(cents=1099, is_floor=True), Price(cents=None, is_floor=False))
    """
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        return UNKNOWN_PRICE
    if not isinstance(raw, str):
        # The shortest decimal that reads back as the float is what the source wrote: 10.99, not 10.9900000000000002.
        return Price(_cents(Decimal(raw) if isinstance(raw, int) else Decimal(repr(raw))))
    match = _PRICE.fullmatch(raw.strip().casefold())
    if not match:
        return UNKNOWN_PRICE
    low, high = (Decimal(match[end].replace(",", "")) if match[end] else None for end in ("low", "high"))
    amounts = [amount for amount in (low, high) if amount is not None]
    cents = _cents(min(amounts))
    return Price(cents, cents is not None and bool(match["floor"] or match["plus"] or len(set(amounts)) > 1))


def _cents(amount: Decimal) -> int | None:
    if not amount.is_finite() or not 0 < amount * 100 <= _MAX_CENTS:
        return None
    cents = amount * 100
    return int(cents) if cents == cents.to_integral_value() else None
