"""Currencies: how shops name them in prices, and how their users write amounts."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from babel.core import get_global
from babel.numbers import format_currency, get_currency_precision, list_currencies

CODES = frozenset(code for code in list_currencies() if re.fullmatch("[A-Z]{3}", code))
"""ISO 4217 codes, of past currencies too."""
DOLLARS = "USD"
_IN_USE = frozenset(
    code for spans in get_global("territory_currencies").values() for code, _, end, is_tender in spans
    if end is None and is_tender
)  # fmt: skip
SHARED: dict[str, frozenset[str]] = {
    "$": frozenset(
        "USD AUD BBD BMD BND BSD BZD CAD CLP COP CUP DOP FJD GYD HKD JMD KYD LRD MXN NAD NZD SBD SGD SRD TTD TWD UYU "
        "XCD ARS".split()
    ),
    "kr": frozenset(("SEK", "NOK", "DKK", "ISK")),
    "¥": frozenset(("JPY", "CNY")),
    "Rs": frozenset(("INR", "PKR", "LKR", "NPR", "MUR", "SCR")),
}
"""Signs that several currencies share."""
_USUAL = {"Rs": "INR"}
"""What a shared sign means where nothing else is said; "$", "kr" and "¥" mean too many."""
WORDS: dict[str, str] = {
    **{"us$": "USD", "us $": "USD", "ca$": "CAD", "c$": "CAD", "au$": "AUD", "a$": "AUD", "nz$": "NZD", "hk$": "HKD"},
    **{"s$": "SGD", "sg$": "SGD", "r$": "BRL", "mx$": "MXN", "nt$": "TWD", "€": "EUR", "£": "GBP", "₹": "INR"},
    **{"₩": "KRW", "₺": "TRY", "₴": "UAH", "₫": "VND", "đ": "VND", "vnđ": "VND", "zł": "PLN", "kč": "CZK", "ft": "HUF"},
    **{"lei": "RON", "лв": "BGN", "₽": "RUB", "руб": "RUB", "₪": "ILS", "฿": "THB", "₦": "NGN", "₱": "PHP"},
    **{"₡": "CRC", "₲": "PYG", "₵": "GHS", "₸": "KZT", "₼": "AZN", "₾": "GEL", "₮": "MNT", "৳": "BDT", "៛": "KHR"},
    **{"₭": "LAK", "rm": "MYR", "rp": "IDR", "chf": "CHF", "sfr": "CHF", "fr": "CHF", "円": "JPY", "元": "CNY"},
    **{"원": "KRW", "tl": "TRY", "грн": "UAH", "dh": "AED", "dhs": "AED", "eur": "EUR", "euro": "EUR", "euros": "EUR"},
    **{"$": "$", "dollar": "$", "dollars": "$", "¥": "¥", "￥": "¥", "kr": "kr", "rs": "Rs", "rupees": "Rs"},
    **{"cn¥": "CNY", "jp¥": "JPY", "r": "ZAR"},
}
"""Code, or shared sign, by the word or sign in small letters."""


def usual_currency(sign: str) -> str | None:
    """Return the code that a code or a sign stands for; None for a sign of several currencies.

    >>> usual_currency("Rs"), usual_currency("EUR"), usual_currency("$")
    ('INR', 'EUR', None)
    """
    return _USUAL.get(sign) if sign in SHARED else sign


def may_be(sign: str, code: str) -> bool:
    """Say whether an amount with a code or sign may be in a currency.

    >>> may_be("$", "CAD"), may_be("$", "EUR"), may_be("EUR", "EUR")
    (True, False, True)
    """
    return code in SHARED.get(sign, (sign,))


def is_code(text: str) -> bool:
    """Say whether a text is the ISO 4217 code of a currency that is in use."""
    return text in _IN_USE


@cache
def whole_units(code: str) -> bool:
    """Say whether amounts in a currency have no decimals: yen, dong."""
    return get_currency_precision(code) == 0


@lru_cache(maxsize=1 << 14)
def spelled_amount(cents: int, code: str | None) -> str:
    """Return an amount as its users write it in English; ``cents`` are hundredths. Code None: plain dollars.

    >>> spelled_amount(125_000_000, "VND"), spelled_amount(129_900, "EUR"), spelled_amount(129_900, None)
    ('₫1,250,000', '€1,299.00', '$1299.00')
    """
    if code is None:
        return f"${cents // 100}.{cents % 100:02d}"
    # A hundredth that the currency does not have is not rounded away: a bound that is said must be the bound.
    is_whole = whole_units(code) and cents % 100 == 0
    text = format_currency(
        cents / 100, code, "¤#,##0" if is_whole else "¤#,##0.00", locale="en_US", currency_digits=False
    )
    return text.replace("\xa0", " ")
