"""The one currency of a catalog: what its rows state, or what the person who builds it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.shop_words.currencies import is_code, may_be, usual_currency


def checked_code(code: str) -> str:
    """Return a currency code in capitals; raises :class:`SourceError` for what is none."""
    found = code.strip().upper()
    if not is_code(found):
        raise SourceError(f"{code!r} is no currency; give its code of three letters, as in --currency EUR")
    return found


@dataclass(frozen=True, slots=True)
class CatalogCurrency:
    """Which amounts are known: those in the catalog's currency."""

    code: str | None
    """None where no product has a price."""
    takes_bare: bool
    """Whether an amount without a currency is in this one."""

    def of(self, stated: str | None) -> str | None:
        """Return the code for what a row states: a code, a shared sign ("$"), or nothing; None if it is not known."""
        if self.code is None or stated is None:
            return self.code if self.takes_bare else None
        return self.code if may_be(stated, self.code) else usual_currency(stated)


def chosen_currency(stated: Mapping[str, int], asked: str | None, schema_s: str | None) -> CatalogCurrency:
    """Return the currency of a catalog.

    ``stated`` counts the rows with a price by what they state of its currency ("" for nothing). It is the one that was
    ``asked`` for; else the one that most rows state, where amounts of the Amazon schema are in ``schema_s`` unless they
    say otherwise. Raises :class:`SourceError` where no row states one and none was asked for.
    """
    if asked is not None:
        return CatalogCurrency(asked, takes_bare=True)
    counts: dict[str, int] = {}
    for sign, count in stated.items():
        fits_schema = schema_s is not None and (not sign or may_be(sign, schema_s))
        code = schema_s if fits_schema else usual_currency(sign) if sign else None
        if code is not None:
            counts[code] = counts.get(code, 0) + count
    if not counts:
        if any(stated.values()):
            raise SourceError(
                "no row states the currency of its price; say it, as in --currency EUR (or --currency USD), to "
                "`ecom-rlve catalog build`"
            )
        return CatalogCurrency(None, takes_bare=False)
    code = min(counts, key=lambda code: (-counts[code], code))
    return CatalogCurrency(code, takes_bare=schema_s == code or (schema_s is None and len(counts) == 1))
