"""The brand of a product, and one spelling for every brand of a catalog."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ecom_rlve.catalog.rows.provenance import Details, Stated
from ecom_rlve.catalog.rows.text import clean_text, is_mojibake

_KEYS = ("brand", "brand name", "manufacturer")
_MAX_BRAND = 80
_NO_NAME = re.compile(
    r"(?:(?:my|the|our|your|default|test|demo|online|web|main|new|dev)[ _-]+)*"
    r"(?:store|shop|webshop|webstore|vendor|brand|marketplace|market place|seller|supplier|company|merchant|retailer)"
    r"|(?:\w+[ _-])?quickstart(?: \([0-9a-f]+\))?|.+\.myshopify\.com"
)
"""What stands in the place of a brand in shops that never entered one."""
_PLACEHOLDERS = frozenset(
    {"generic", "unknown", "n/a", "na", "none", "no brand", "nobrand", "unbranded", "brand", "oem", "other", "-", "—"}
    | {"does not apply", "not applicable", "no", "null", "visit the store"}
)


def brand_of(details: Details, store: object) -> Stated[str] | None:
    """Return the brand: from the details ``brand``, ``brand name``, ``manufacturer``, then the store; else None.

    Values that name no brand ("Generic"), contain markup or were decoded wrongly are skipped.
    """
    for _, key, raw in (*details.stated(_KEYS), Stated(store, "store", store)):
        if isinstance(raw, str) and not is_mojibake(raw) and not set("<>{}") & set(raw):
            brand = clean_text(raw)
            folded = brand.casefold()
            named = any(letter.isalnum() for letter in brand) and folded not in _PLACEHOLDERS
            named = named and not _NO_NAME.fullmatch(folded)
            if named and len(brand) <= _MAX_BRAND:
                return Stated(brand, key, raw)
    return None


def one_spelling(counts: Mapping[str, int]) -> dict[str, str]:
    """Return for every case-folded brand the spelling to use: the most frequent one, the first of equals.

    >>> one_spelling({"dotn": 1, "Dotn": 2, "ACME": 1, "Acme": 1})
    {'acme': 'ACME', 'dotn': 'Dotn'}
    """
    chosen: dict[str, str] = {}
    for brand in sorted(counts, key=lambda brand: (-counts[brand], brand)):
        chosen.setdefault(brand.casefold(), brand)
    return dict(sorted(chosen.items()))
