"""Prices: exact cents, lower bounds marked, everything unclear unknown."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.shop_words.prices import Price, PriceKind, parse_price


@pytest.mark.parametrize(
    ("raw", "cents"),
    [
        (10.99, 1099),
        (19.99, 1999),
        (0.29, 29),
        (1.1, 110),
        (12, 1200),
        (5.0, 500),
        ("19.99", 1999),
        (" $1,299.00 ", 129900),
        ("144.99 USD", 14499),
        ("USD 5", 500),
        ("US$ 5", 500),
        ("1499.9900", 149999),
        (".99", 99),
        ("10.99 - 10.99", 1099),
    ],
)
def test_an_exact_price_is_read_to_the_cent(raw: object, cents: int) -> None:
    assert parse_price(raw)._replace(currency=None) == Price(PriceKind.EXACT, cents)


@pytest.mark.parametrize(
    ("raw", "cents", "high"),
    [
        ("from 12.99", 1299, None),
        ("From $1,299.00", 129900, None),
        ("starting at 5", 500, None),
        ("12.99+", 1299, None),
        ("from 12.99 USD", 1299, None),
        ("10.99 - 999999999999999", 1099, None),
        ("10.99 - 15.99", 1099, 1599),
        ("$10.99–$15.99", 1099, 1599),
        ("15.99 to 10.99", 1099, 1599),
        ("USD 10.99 - USD 15.99", 1099, 1599),
    ],
)
def test_a_lower_bound_and_a_range_are_marked(raw: object, cents: int, high: int | None) -> None:
    price = parse_price(raw)
    assert (price.kind, price.low_cents, price.high_cents) == (
        PriceKind.AT_LEAST if high is None else PriceKind.RANGE,
        cents,
        high,
    )
    assert price.is_floor


@pytest.mark.parametrize(
    ("raw", "beside", "price"),
    [
        ("144.99 USD", None, Price(PriceKind.EXACT, 14499, None, "USD")),
        ("144.99", "usd", Price(PriceKind.EXACT, 14499, None, "USD")),
        (144.99, "EUR", Price(PriceKind.EXACT, 14499, None, "EUR")),
        ("US$ 5", "USD", Price(PriceKind.EXACT, 500, None, "USD")),
        ("€5.00", None, Price(PriceKind.EXACT, 500, None, "EUR")),
        ("5.00 £", None, Price(PriceKind.EXACT, 500, None, "GBP")),
        ("A$5 - A$7", None, Price(PriceKind.RANGE, 500, 700, "AUD")),
        ("from CAD 5", None, Price(PriceKind.AT_LEAST, 500, None, "CAD")),
        ("$5", None, Price(PriceKind.EXACT, 500)),
        ("5 €", "USD", Price()),
        ("5 EUR 6 USD", None, Price()),
        ("12,99 EUR", None, Price(PriceKind.EXACT, 1299, None, "EUR")),
        ("5", "dollars", Price(PriceKind.EXACT, 500)),
        ("5", 3, Price(PriceKind.EXACT, 500)),
        ("5 pcs", None, Price()),
        ("1$2", None, Price()),
        ("1 usd 2", None, Price(currency="USD")),
    ],
)
def test_a_currency_is_kept_and_never_converted(raw: object, beside: object, price: Price) -> None:
    assert parse_price(raw, beside) == price


@pytest.mark.parametrize(
    ("raw", "cents", "currency"),
    [
        ("1.234,56 €", 123456, "EUR"),
        ("12,99 €", 1299, "EUR"),
        ("12,99&nbsp;&euro;", 1299, "EUR"),
        ("1 299,00 Kč", 129900, "CZK"),
        ("1\u202f299,00\u00a0€", 129900, "EUR"),
        ("1'299.00 CHF", 129900, "CHF"),
        ("CHF 12.–", 1200, "CHF"),
        ("US $12.99", 1299, "USD"),
        ("Rs. 499", 49900, "INR"),
        ("Rs.1,29,900.00", 12990000, "INR"),
        ("A$20", 2000, "AUD"),
        ("kr 129", 12900, None),
        ("129 kr", 12900, None),
        ("129:-", 12900, "SEK"),
        ("12.99 usd per unit", 1299, "USD"),
        ("12.99€/piece", 1299, "EUR"),
        ("₫1,250,000", 125000000, "VND"),
        ("1.250.000 ₫", 125000000, "VND"),
        ("12.999 ₫", 1299900, "VND"),
        ("¥12,800", 1280000, None),
        ("R$ 1.299,90", 129990, "BRL"),
        ("49,00 zł", 4900, "PLN"),
        ("RM12.90", 1290, "MYR"),
        ("1.299,00", 129900, None),
    ],
)
def test_the_notations_of_many_countries_are_read(raw: str, cents: int, currency: str | None) -> None:
    assert parse_price(raw) == Price(PriceKind.EXACT, cents, None, currency)


def test_a_lower_bound_is_known_in_other_languages() -> None:
    assert parse_price("ab 12,99 €") == Price(PriceKind.AT_LEAST, 1299, None, "EUR")
    assert parse_price("à partir de 12,99 €") == Price(PriceKind.AT_LEAST, 1299, None, "EUR")


@pytest.mark.parametrize(
    "raw",
    [
        None, "", " ", "None", "—", "-", "nan", "free", "Free", "$5 off", "5 % off",
        "12.999", "12.345", 12.345, "0,999", "12.99 / 100 ml", "10.99 15.99", "1,2",
        0, 0.0, -3, -0.01, "0", "0.00", "-3", "from 0", "0 - 5", float("nan"), float("inf"), 1e300, True, [], {},
        "9" * 400,
    ],
)  # fmt: skip
def test_what_is_no_price_is_unknown(raw: object) -> None:
    assert parse_price(raw) == Price()


@given(st.integers(1, 10**11))
def test_every_amount_of_cents_survives_text_and_number(cents: int) -> None:
    amount = Decimal(cents) / 100
    assert parse_price(f"{amount:.2f}") == parse_price(f"${amount:,.2f}") == Price(PriceKind.EXACT, cents)
    assert parse_price(float(amount)) == Price(PriceKind.EXACT, cents)
    assert parse_price(f"from {amount:.2f}") == Price(PriceKind.AT_LEAST, cents)


@given(
    st.integers(1, 10**11),
    st.sampled_from([(",", "."), (".", ","), (" ", ","), ("\u202f", ","), ("'", "."), ("", "."), ("", ",")]),
    st.sampled_from(["{} €", "€{}", "EUR {}", "{} eur", "{}"]),
)
def test_every_amount_survives_every_notation(cents: int, separators: tuple[str, str], sign: str) -> None:
    groups, decimals = separators
    written = f"{cents // 100:,}".replace(",", groups) + decimals + f"{cents % 100:02d}"
    expected = "EUR" if sign != "{}" else None
    assert parse_price(sign.format(written)) == Price(PriceKind.EXACT, cents, None, expected)


@given(st.one_of(st.text(), st.floats(), st.integers(), st.none(), st.from_regex(r"[$0-9., –-]{1,30}")))
def test_no_input_raises_and_known_prices_are_positive(raw: object) -> None:
    price = parse_price(raw)
    assert price.low_cents is None or price.low_cents > 0
    assert (price.kind is PriceKind.UNKNOWN) == (price.low_cents is None)
    assert (price.kind is PriceKind.RANGE) == (price.high_cents is not None)
