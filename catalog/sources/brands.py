"""The brand of a product, and one spelling for every brand of a catalog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ecom_rlve.catalog.sources.text import clean_text, is_mojibake

_KEYS = ("brand", "brand name", "manufacturer")
_MAX_BRAND = 80
_PLACEHOLDERS = frozenset(
    {"generic", "unknown", "n/a", "na", "none", "no brand", "nobrand", "unbranded", "brand", "oem", "other", "-", "—"}
    | {"does not apply", "not applicable", "no", "null", "visit the store"}
)


def brand_of(details: Mapping[str, object], store: object) -> str | None:
    """Return the brand: from the details ``brand``, ``brand name``, ``manufacturer``, then the store; else None.

    ``details`` has lower-case keys. Values that name no brand ("Generic"), carry markup or were decoded wrongly are
    passed over.
    """
    for raw in (*(details.get(key) for key in _KEYS), store):
        if isinstance(raw, str) and not is_mojibake(raw) and not set("<>{}") & set(raw):
            brand = clean_text(raw)
            named = any(letter.isalnum() for letter in brand) and brand.casefold() not in _PLACEHOLDERS
            if named and len(brand) <= _MAX_BRAND:
                return brand
    return None


def one_spelling(brands: Iterable[str]) -> dict[str, str]:
    """Return the spelling to use for every brand by its case-folded form: the most frequent, of equals the first.

    >>> one_spelling(["dotn", "Dotn", "Dotn", "ACME", "Acme"])
    {'acme': 'ACME', 'dotn': 'Dotn'}
    """
    counts = Counter(brands)
    chosen: dict[str, str] = {}
    for brand in sorted(counts, key=lambda brand: (-counts[brand], brand)):
        chosen.setdefault(brand.casefold(), brand)
    return dict(sorted(chosen.items()))
