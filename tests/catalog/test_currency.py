"""The one currency of a catalog, and how its amounts are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.currency import CatalogCurrency, checked_code, chosen_currency
from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.shop_words.currencies import is_amount, spelled_amount
from ecom_rlve.catalog.shop_words.prices import parse_price


@pytest.mark.parametrize(
    ("stated", "asked", "schema_s", "chosen"),
    [
        ({"": 3}, "EUR", None, CatalogCurrency("EUR", takes_bare=True)),
        ({"EUR": 3, "USD": 2, "": 1}, None, None, CatalogCurrency("EUR", takes_bare=False)),
        ({"EUR": 3, "": 1}, None, None, CatalogCurrency("EUR", takes_bare=True)),
        ({"EUR": 2, "USD": 2}, None, None, CatalogCurrency("EUR", takes_bare=False)),
        ({"EUR": 3}, "USD", None, CatalogCurrency("USD", takes_bare=True)),
        ({"": 3, "$": 2}, None, "USD", CatalogCurrency("USD", takes_bare=True)),
        ({"": 1, "EUR": 3}, None, "USD", CatalogCurrency("EUR", takes_bare=False)),
        ({"Rs": 3}, None, None, CatalogCurrency("INR", takes_bare=True)),
        ({}, None, None, CatalogCurrency(None, takes_bare=False)),
    ],
)
def test_what_is_asked_for_counts_then_what_most_rows_state(
    stated: dict[str, int], asked: str | None, schema_s: str | None, chosen: CatalogCurrency
) -> None:
    assert chosen_currency(stated, asked, schema_s) == chosen


@pytest.mark.parametrize("stated", [{"": 3}, {"$": 3}, {"kr": 1, "": 1}])
def test_no_currency_is_guessed(stated: dict[str, int]) -> None:
    with pytest.raises(SourceError, match=r"no row states the currency .* --currency EUR"):
        chosen_currency(stated, None, None)


def test_a_shared_sign_is_any_of_its_currencies() -> None:
    canadian = CatalogCurrency("CAD", takes_bare=True)
    assert [canadian.of(stated) for stated in ("$", "CAD", None, "EUR", "kr")] == ["CAD", "CAD", "CAD", "EUR", None]
    assert CatalogCurrency("EUR", takes_bare=False).of(None) is None


def test_a_code_is_checked() -> None:
    assert checked_code(" eur ") == "EUR"
    for wrong in ("euro", "XXX", "€", "DEM"):
        with pytest.raises(SourceError, match="is no currency; give its code of three letters"):
            checked_code(wrong)


@pytest.mark.parametrize(
    ("cents", "code", "text"),
    [
        (125_000_000, "VND", "₫1,250,000"),
        (123_456, "EUR", "€1,234.56"),
        (129_900, "CZK", "CZK 1,299.00"),
        (129_900, "USD", "$1,299.00"),
        (129_900, None, "$1299.00"),
        (1999, "AUD", "A$19.99"),
        (150, "JPY", "¥1.50"),
    ],
)
def test_amounts_are_written_as_their_users_do(cents: int, code: str | None, text: str) -> None:
    assert spelled_amount(cents, code) == text


_CODES = "USD EUR GBP JPY CNY INR VND KRW CZK SEK NOK DKK PLN CHF AUD CAD MXN BRL ZAR TRY HUF IDR THB ILS KWD".split()


@given(st.integers(1, 10**10), st.sampled_from(_CODES), st.booleans())
def test_what_is_written_is_read_again_exactly(cents: int, code: str, is_short: bool) -> None:
    text = spelled_amount(cents, code, is_short=is_short)
    price = parse_price(text, code)
    assert price.low_cents == cents
    assert price.currency == code


def test_amounts_of_many_currencies_are_heard() -> None:
    codes = ("USD", "EUR", "VND", "GBP", "INR", "CZK", "SEK", "PLN", "KRW", "JPY")
    assert all(is_amount(spelled_amount(123_400, code).casefold()) for code in codes)
