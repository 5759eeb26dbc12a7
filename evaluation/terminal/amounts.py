"""Amounts of money as the terminal writes them."""

from __future__ import annotations


def spelled(amount: float, currency: str) -> str:
    """Return an amount; ``currency`` is the code that results name, empty where they name none: dollars.

    >>> spelled(1299.5, "EUR"), spelled(19.99, "")
    ('1,299.50 EUR', '$19.99')
    """
    return f"{amount:,.2f} {currency}" if currency else f"${amount:.2f}"
