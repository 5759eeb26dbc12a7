"""Prices as shops write them, read into integer cents without rounding and without converting currencies.

Anything that is not clearly a positive price is unknown: "—", "None", nothing, NaN, zero, a negative number, and an
amount that is no whole number of cents. "from 12.99" and "12.99+" are lower bounds, "10.99 - 15.99" is a range.
"""

from __future__ import annotations

import re
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

DOLLARS = "USD"
"""The currency in which constraints are stated."""
_MAX_CENTS = 10**11
"""Larger amounts are misread numbers (ids, barcodes), and a column could not hold them exactly."""
_CODES = frozenset(
    re.findall(
        r"[A-Z]{3}",
        """
        AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD
        CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD
        GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT
        LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR
        NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP
        STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF
        XPF YER ZAR ZMW
        """,
    )
)
_SIGNS = {"us$": "USD", "ca$": "CAD", "c$": "CAD", "au$": "AUD", "a$": "AUD", "nz$": "NZD", "hk$": "HKD", "s$": "SGD"}
_SIGNS |= {"r$": "BRL", "€": "EUR", "£": "GBP", "₹": "INR", "₩": "KRW", "₺": "TRY", "₴": "UAH", "₫": "VND", "zł": "PLN"}
# A bare "$" stays with the amount: many countries write their currency so, and it is no code.
_CURRENCY = re.compile(r"(?<![a-z])[a-z]{1,2}\$|[€£₹₩₺₴₫]|zł|(?<![a-z])[a-z]{3}(?![a-z])")
_AMOUNT = r"\$?\s*(?P<{0}>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)\s*\$?"
_PRICE = re.compile(
    r"(?P<floor>from|starting\s+(?:at|from)|as\s+low\s+as|at\s+least)?:?\s*"
    + _AMOUNT.format("low")
    + r"\s*(?:(?P<plus>\+|and\s+up)|(?:-|–|—|to)\s*"
    + _AMOUNT.format("high")
    + r")?\s*",
    re.ASCII,
)


class PriceKind(StrEnum):
    """How exact a stated price is."""

    EXACT = "exact"
    AT_LEAST = "at least"
    RANGE = "range"
    UNKNOWN = "unknown"


class Price(NamedTuple):
    """A price as far as it is known, in hundredths of its currency."""

    kind: PriceKind = PriceKind.UNKNOWN
    low_cents: int | None = None
    """The price, or its lower bound, above 0; None = unknown."""
    high_cents: int | None = None
    """Upper end of a range; None for every other kind."""
    currency: str | None = None
    """ISO 4217 code; None = not stated, or stated in two ways."""

    @property
    def in_dollars(self) -> Price:
        """This price if it is in dollars or names no currency, else an unknown price of the same currency."""
        return self if self.currency in (None, DOLLARS) else Price(currency=self.currency)

    @property
    def is_floor(self) -> bool:
        """Whether ``low_cents`` is only a lower bound."""
        return self.kind in (PriceKind.AT_LEAST, PriceKind.RANGE)


def parse_price(raw: object, currency: object = None) -> Price:
    """Read a price from a number or a text; anything that is not clearly a price is unknown.

    ``currency`` is the code stated beside the price. If the price itself states another one, the price is unknown.

    >>> parse_price("from $1,299.00")
    Price(kind=<PriceKind.AT_LEAST: 'at least'>, low_cents=129900, high_cents=None, currency=None)
    >>> parse_price("10.99 - 15.99 EUR")
    Price(kind=<PriceKind.RANGE: 'range'>, low_cents=1099, high_cents=1599, currency='EUR')
    """
    beside = currency.strip().upper() if isinstance(currency, str) else ""
    codes = {beside} & _CODES
    if isinstance(raw, str):
        text = raw.strip().casefold()
        named = {word: _SIGNS.get(word, word.upper()) for word in _CURRENCY.findall(text)}
        stated = {word: code for word, code in named.items() if code in _CODES}
        codes |= set(stated.values())
        # Replaced by a blank, which no amount contains, so that removing a word cannot join two numbers.
        amounts = _CURRENCY.sub(lambda found: " " if found[0] in stated else found[0], text).strip()
        price = _read_text(amounts)
    else:
        price = _read_number(raw)
    if len(codes) > 1:
        return Price()
    return price._replace(currency=min(codes, default=None))


def _read_number(raw: object) -> Price:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return Price()
    # The shortest decimal that reads back as the float is what the source wrote: 10.99, not 10.9900000000000002.
    cents = _cents(Decimal(raw) if isinstance(raw, int) else Decimal(repr(raw)))
    return Price() if cents is None else Price(PriceKind.EXACT, cents)


def _read_text(text: str) -> Price:
    match = _PRICE.fullmatch(text)
    if not match:
        return Price()
    amounts = [Decimal(match[end].replace(",", "")) for end in ("low", "high") if match[end]]
    low, high = _cents(min(amounts)), _cents(max(amounts))
    if low is None:
        return Price()
    if low != high:
        return Price(PriceKind.AT_LEAST if high is None else PriceKind.RANGE, low, high)
    return Price(PriceKind.AT_LEAST if match["floor"] or match["plus"] else PriceKind.EXACT, low)


def _cents(amount: Decimal) -> int | None:
    if not amount.is_finite() or not 0 < amount * 100 <= _MAX_CENTS:
        return None
    cents = amount * 100
    return int(cents) if cents == cents.to_integral_value() else None
