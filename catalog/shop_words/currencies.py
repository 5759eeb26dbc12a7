"""Currencies: how shops name them in prices, and how their users write amounts."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache, lru_cache

from babel.core import get_global
from babel.numbers import (
    format_currency,
    get_currency_name,
    get_currency_precision,
    get_currency_symbol,
    list_currencies,
)

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
_LOCALE = "en_US"
_CODE_AND_AMOUNT = re.compile(r"^([A-Za-z]+\.?)(?=\d)")
_SCALES: dict[str, int] = {
    **dict.fromkeys("CNY CZK DKK HKD HNL INR MXN NOK PHP SEK THB TRY TWD UAH UYU ZAR EGP MDL".split(), 10),
    **dict.fromkeys("ARS BDT DZD HUF ISK JPY KES LKR NPR PKR RSD RUB KZT CRC NGN".split(), 100),
    **dict.fromkeys("CLP COP KRW MMK TZS UGX XAF XOF MNT AMD".split(), 1_000),
    **dict.fromkeys("IDR VND KHR LAK PYG UZS IRR GNF".split(), 10_000),
}
"""Units that buy roughly what a dollar does, where that is not about one."""
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

_SIGN = "[$€£¥₹₩₺₴₫₽₪฿₦₱₡₲₵₸₼₾₮৳៛₭]"
# Only codes that are no English words: "all 3", "top 5" and "try 2" are no amounts.
_SPOKEN = "chf|czk|sek|nok|dkk|huf|pln|ron|isk|aed|sar|zar|thb|idr|myr|egp|rsd|bgn|kzt|ngn|kes|pkr|lkr|bdt"
AMOUNT = rf"{_SIGN}\d[\d.,]*|\b(?:{_SPOKEN}) ?\d[\d.,]*"
"""Pattern of an amount of money in text in small letters."""
_AMOUNT = re.compile(AMOUNT)
_OTHER_SIGN = re.compile(rf"(?!\$){_SIGN}(?=\d)|\b(?:{_SPOKEN}) ?(?=\d)")


def is_amount(token: str) -> bool:
    """Say whether a word in small letters is an amount of money.

    >>> is_amount("$20"), is_amount("czk 1,299.00"), is_amount("20")
    (True, True, False)
    """
    return _AMOUNT.fullmatch(token) is not None


def with_dollars(folded: str) -> str:
    """Return a text in small letters with "$" for every currency's sign before an amount.

    >>> with_dollars("at most €20 or czk 500, $5")
    'at most $20 or $500, $5'
    """
    return _OTHER_SIGN.sub("$", folded)


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


def coin(code: str | None) -> int:
    """Return the smallest amount of a currency in hundredths: 1, or 100 where it has no decimals."""
    return 100 if code is not None and whole_units(code) else 1


@lru_cache(maxsize=1 << 14)
def spelled_amount(cents: int, code: str | None, *, is_short: bool = False) -> str:
    """Return an amount as its users write it in English; ``cents`` are hundredths. Code None: plain dollars.

    ``is_short`` leaves out decimals that are zero, as do currencies without decimals. No amount is rounded: a bound
    that is said must be the bound.

    >>> spelled_amount(125_000_000, "VND"), spelled_amount(129_900, "EUR"), spelled_amount(129_900, None)
    ('₫1,250,000', '€1,299.00', '$1299.00')
    >>> spelled_amount(129_900, "CZK", is_short=True)
    'CZK 1,299'
    """
    has_no_decimals = cents % 100 == 0 and (is_short or (code is not None and whole_units(code)))
    if code is None:
        return f"${cents // 100}" if has_no_decimals else f"${cents // 100}.{cents % 100:02d}"
    pattern = "¤#,##0" if has_no_decimals else "¤#,##0.00"
    amount = Decimal(cents).scaleb(-2)
    text = format_currency(amount, code, pattern, locale=_LOCALE, currency_digits=False)
    # A sign stands before its amount, a code of letters apart from it.
    return _CODE_AND_AMOUNT.sub(r"\1 ", text.replace("\xa0", ""))


def price_scale(code: str) -> int:
    """Return roughly how many units of a currency buy what a dollar does, as a power of ten."""
    return _SCALES.get(code, 1)


def names_of(code: str) -> tuple[str, ...]:
    """Return how answers may name a currency, case folded: code, sign, names.

    >>> names_of("EUR")
    ('eur', '€', 'euro', 'euros')
    """
    names = (get_currency_name(code, count=count, locale=_LOCALE) for count in (1, 2))
    signs = (get_currency_symbol(code, locale=_LOCALE), *names)
    return tuple(dict.fromkeys(name.casefold() for name in (code, *signs)))
