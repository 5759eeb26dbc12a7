"""Prices as shops write them, read into integer cents without rounding and without converting currencies.

Anything that is not clearly a positive price is unknown: "—", "None", nothing, NaN, zero, a negative number, and an
amount that is no whole number of cents. "from 12.99" and "12.99+" are lower bounds, "10.99 - 15.99" is a range.

Either of "." and "," may separate decimals or thousands. One of them before exactly three digits, and nothing else,
is a comma of thousands ("1,299"); with a point ("12.999") it could be either, and is no price unless the currency
decides.
"""

from __future__ import annotations

import re
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from ecom_rlve.catalog.shop_words.currencies import CODES, WORDS, is_code, may_be, usual_currency, whole_units
from ecom_rlve.catalog.shop_words.entities import decoded

_MAX_CENTS = 10**11
"""Larger amounts are misread numbers (ids, barcodes), and a column could not hold them exactly."""
_BLANKS = re.compile(r"[\s\u00a0\u2007\u202f\u2009]+")
_SIGNS = sorted((re.escape(word) for word in WORDS if not word.isalpha() or not word.isascii()), key=len, reverse=True)
_NAMES = sorted((word for word in WORDS if word.isalpha() and word.isascii()), key=len, reverse=True)
# A word of letters stands by itself, or right beside a number; a sign may stand anywhere.
_CURRENCY = re.compile(
    rf"(?<![^\W\d_])(?:{'|'.join(_SIGNS)})(?![^\W\d_])"
    rf"|(?<![^\W\d_])(?:{'|'.join(_NAMES)}|[a-z]{{3}})(?![^\W\d_]|\$)\.?(?=[\s\d+,–-]|$)"
)
_GROUPS = r"[1-9]\d{0,2}(?:(?:,\d{3})+|(?: \d{3})+|(?:['’]\d{3})+)|[1-9]\d?(?:,\d\d)+,\d{3}"
_NUMBER = (
    rf"(?:{_GROUPS})(?:\.\d+)?|[1-9]\d{{0,2}}(?:\.\d{{3}})+,\d{{1,2}}|[1-9]\d{{0,2}}(?:\.\d{{3}}){{2,}}"
    r"|[1-9]\d{0,2}(?:(?: \d{3})+|(?:['’]\d{3})+),\d{2}"
    r"|[1-9]\d{0,2}(?:\.\d{3})+(?=,[-–—])|\d+,\d\d|\d+(?:\.\d+)?|\.\d+"
)
_AMOUNT = rf"(?P<NAME>{_NUMBER})(?:[.,:]?[-–—](?=$|\s*[-–—to+]))?"
_FROM = (
    r"from|starting\s+(?:at|from)|as\s+low\s+as|at\s+least|ab|à\s+partir\s+de|a\s+partir\s+de|dès|desde|från|fra|vanaf|"
    r"od|da"
)
_UNIT = r"(?:(?:per|/|a|pro|je)\s*(?:unit|piece|item|pcs?|pair|stück|stk|st)|each|ea)\b\.?"
_PRICE = re.compile(
    rf"(?P<floor>{_FROM})?:?\s*"
    + _AMOUNT.replace("NAME", "low")
    + r"\s*(?:(?P<plus>\+|and\s+up)|(?:-|–|—|to)\s*"
    + _AMOUNT.replace("NAME", "high")
    + rf")?\s*(?:{_UNIT})?\s*"
)
_SINGLE_GROUP = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_BETWEEN_NUMBERS = re.compile(r"\d\s*\0\s*\d")
_SWEDISH = re.compile(r"\d:-\s*$")


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
    """ISO 4217 code; None = not stated, or stated in two ways, or by a sign of several currencies."""

    @property
    def is_floor(self) -> bool:
        """Whether ``low_cents`` is only a lower bound."""
        return self.kind in (PriceKind.AT_LEAST, PriceKind.RANGE)


def parse_price(raw: object, currency: object = None) -> Price:
    """Read a price from a number or a text; anything that is not clearly a price is unknown.

    ``currency`` is the code stated beside the price. If the price itself states another one, the price is unknown.

    >>> parse_price("from $1,299.00")
    Price(kind=<PriceKind.AT_LEAST: 'at least'>, low_cents=129900, high_cents=None, currency=None)
    >>> parse_price("10,99 - 15,99 EUR")
    Price(kind=<PriceKind.RANGE: 'range'>, low_cents=1099, high_cents=1599, currency='EUR')
    """
    return parsed_with_sign(raw, currency)[0]


def parsed_with_sign(raw: object, currency: object = None) -> tuple[Price, str]:
    """Read a price as :func:`parse_price`, and return what names its currency: a code, a sign, or nothing.

    >>> parsed_with_sign("kr 129")[1], parsed_with_sign("$5", "CAD")[1], parsed_with_sign("5")[1]
    ('kr', 'CAD', '')
    """
    beside = currency.strip().upper() if isinstance(currency, str) else ""
    stated = {beside} if is_code(beside) else set()
    if not isinstance(raw, str):
        return _told(_read_number(raw), stated)
    amounts, named = _split(raw)
    stated |= named
    return _told(_read_text(amounts, usual_currency(min(stated)) if len(stated) == 1 else None), stated)


def _told(price: Price, stated: set[str]) -> tuple[Price, str]:
    """Return the price in the one currency that is stated; an unknown price where two are."""
    codes = {sign for sign in stated if sign in CODES}
    signs = stated - codes
    if len(codes) > 1 or (codes and any(not may_be(sign, min(codes)) for sign in signs)) or len(signs) > 1:
        return Price(), ""
    sign = min(codes or signs, default="")
    return price._replace(currency=usual_currency(sign) if sign else None), sign


@lru_cache(maxsize=1 << 12)
def _split(raw: str) -> tuple[str, frozenset[str]]:
    """Return the text without what names a currency, and the codes and signs that it names."""
    text = _BLANKS.sub(" ", decoded(raw)).strip().casefold()
    named = {"SEK"} if _SWEDISH.search(text) else set()

    def taken(match: re.Match[str]) -> str:
        word = match[0].rstrip(".")
        sign = WORDS.get(word) or (word.upper() if is_code(word.upper()) else "")
        if not sign:
            return match[0]
        named.add(sign)
        # A blank, so that removing a word cannot join two numbers; a mark, so that blanks cannot do so either.
        return " \0 "

    amounts = _CURRENCY.sub(taken, text)
    return amounts, frozenset(named)


def _read_number(raw: object) -> Price:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return Price()
    # The shortest decimal that reads back as the float is what the source wrote: 10.99, not 10.9900000000000002.
    cents = _cents(Decimal(raw) if isinstance(raw, int) else Decimal(repr(raw)))
    return Price() if cents is None else Price(PriceKind.EXACT, cents)


def _read_text(text: str, currency: str | None) -> Price:
    if _BETWEEN_NUMBERS.search(text):
        return Price()
    match = _PRICE.fullmatch(" ".join(text.replace("\0", " ").split()))
    if not match:
        return Price()
    read = [_decimal(match[end], currency) for end in ("low", "high") if match[end]]
    if None in read:
        return Price()
    amounts = [amount for amount in read if amount is not None]
    low, high = _cents(min(amounts)), _cents(max(amounts))
    if low is None:
        return Price()
    if low != high:
        return Price(PriceKind.AT_LEAST if high is None else PriceKind.RANGE, low, high)
    return Price(PriceKind.AT_LEAST if match["floor"] or match["plus"] else PriceKind.EXACT, low)


def _decimal(text: str, currency: str | None) -> Decimal | None:
    """Return the number that a text stands for; None where it could be two."""
    if _SINGLE_GROUP.fullmatch(text):
        is_whole = currency is not None and whole_units(currency)
        return Decimal(text.replace(".", "")) if is_whole else None
    plain = re.sub(r"[ '’]", "", text)
    last = max(plain.rfind("."), plain.rfind(","))
    if last < 0:
        return Decimal(plain)
    whole, decimals = re.sub("[.,]", "", plain[:last]), plain[last + 1 :]
    is_group = len(decimals) == 3 and (plain[last] == "," or plain.count(".") > 1)
    return Decimal(whole + decimals) if is_group else Decimal(f"{whole or 0}.{decimals}")


def _cents(amount: Decimal) -> int | None:
    if not amount.is_finite() or not 0 < amount * 100 <= _MAX_CENTS:
        return None
    cents = amount * 100
    return int(cents) if cents == cents.to_integral_value() else None
