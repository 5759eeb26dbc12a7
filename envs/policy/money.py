"""Amounts of money of a store's policies, in the currency of its catalog.

Rules are drawn in dollars. In another currency an amount is that many times larger which makes it a price of the same
sort: a fee of $8.35 is ₫83,500.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from ecom_rlve.catalog.shop_words.currencies import DOLLARS, price_scale, spelled_amount

_DOLLARS = re.compile(r"\$(\d+)(?:\.(\d\d))?")


@dataclass(frozen=True, slots=True)
class StoreMoney:
    """The currency of a store."""

    code: str | None = None
    """None where the catalog states none: then it is dollars."""

    @property
    def unit(self) -> str:
        """The unit of an answer."""
        return self.code or DOLLARS

    @property
    def scale(self) -> int:
        """How many units stand for a dollar."""
        return 1 if self.code is None else price_scale(self.code)

    def of(self, dollars: Fraction) -> Fraction:
        """Return an amount in the store's currency."""
        return dollars * self.scale

    def spelled(self, text: str) -> str:
        """Return a text with its amounts in dollars put into the store's currency.

        >>> StoreMoney("VND").spelled("a fee of $8.35 below $50"), StoreMoney().spelled("$8.35")
        ('a fee of ₫83,500 below ₫500,000', '$8.35')
        """
        if self.code is None:
            return text
        code = self.code

        def amount(match: re.Match[str]) -> str:
            cents = (int(match[1]) * 100 + int(match[2] or 0)) * self.scale
            return spelled_amount(cents, code, is_short=match[2] is None)

        return _DOLLARS.sub(amount, text)


PLAIN_DOLLARS = StoreMoney()
