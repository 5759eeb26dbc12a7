"""Prices: exact cents, lower bounds marked, everything unclear unknown."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.prices import Price, parse_price


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
    assert parse_price(raw) == Price(cents, is_floor=False)


@pytest.mark.parametrize(
    ("raw", "cents"),
    [
        ("from 12.99", 1299),
        ("From $1,299.00", 129900),
        ("starting at 5", 500),
        ("10.99 - 15.99", 1099),
        ("$10.99–$15.99", 1099),
        ("15.99 to 10.99", 1099),
        ("12.99+", 1299),
    ],
)
def test_a_lower_bound_is_marked(raw: object, cents: int) -> None:
    assert parse_price(raw) == Price(cents, is_floor=True)


@pytest.mark.parametrize(
    "raw",
    [
        None, "", " ", "None", "—", "-", "nan", "free", "€5.00", "1.299,00", "12.345", 12.345, "10.99 15.99", "1,2",
        0, 0.0, -3, -0.01, "0", "0.00", "-3", "from 0", "0 - 5", float("nan"), float("inf"), 1e300, True, [], {},
        "9" * 400,
    ],
)  # fmt: skip
def test_what_is_no_price_is_unknown(raw: object) -> None:
    assert parse_price(raw) == Price(None, is_floor=False)


@given(st.integers(1, 10**11))
def test_every_amount_of_cents_survives_text_and_number(cents: int) -> None:
    amount = Decimal(cents) / 100
    assert parse_price(f"{amount:.2f}") == parse_price(f"${amount:,.2f}") == Price(cents)
    assert parse_price(float(amount)) == Price(cents)
    assert parse_price(f"from {amount:.2f}") == Price(cents, is_floor=True)


@given(st.one_of(st.text(), st.floats(), st.integers(), st.none(), st.from_regex(r"[$0-9., –-]{1,30}")))
def test_no_input_raises_and_known_prices_are_positive(raw: object) -> None:
    price = parse_price(raw)
    assert price.cents is None or price.cents > 0
    assert price.cents is not None or not price.is_floor
