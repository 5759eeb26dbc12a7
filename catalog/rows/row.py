"""Rows of the Amazon-Reviews-2023 metadata shape, read as products.

Both published shapes are read in the same way: the raw one (``details`` an object, ``price`` a number) and the one of
the data hub (``details`` a JSON string, ``price`` a string, ``images`` an object of lists). Images and videos are not
read. Every other source is brought into this shape first. It may add three fields: ``currency``; ``field_names``, the
source's own names of fields ("details.Color" -> "g:color"); ``is_continuation``, true for a row that only adds to the
product of an earlier row.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.derived import ship_days_and_stock
from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.product import Product
from ecom_rlve.catalog.rows.brands import brand_of
from ecom_rlve.catalog.rows.catalog_wide import CatalogNotes, Duplicates
from ecom_rlve.catalog.rows.control_tokens import without_control_tokens
from ecom_rlve.catalog.rows.measures import numeric_attributes
from ecom_rlve.catalog.rows.provenance import Details, Stated
from ecom_rlve.catalog.rows.reading import Reading
from ecom_rlve.catalog.rows.report import DropReason, SourceReport
from ecom_rlve.catalog.rows.text import cap_title, clean_text, is_mojibake
from ecom_rlve.catalog.rows.title_measures import titled_measures
from ecom_rlve.catalog.rows.typed_attributes import ProductText, discrete_attributes
from ecom_rlve.catalog.shop_words.leaf_categories import leaf_and_origin
from ecom_rlve.catalog.shop_words.nouns import Leaf
from ecom_rlve.catalog.shop_words.phrases import fold_words
from ecom_rlve.catalog.shop_words.prices import PriceKind, parse_price

FIELDS = (
    *("parent_asin", "title", "main_category", "categories", "features", "description", "details", "price", "store"),
    *("average_rating", "rating_number", "currency"),
)
"""The fields that are read. A source with columns need not read any other."""
REQUIRED = ("parent_asin", "title")
"""A source without these fields has no products."""
CONTINUATION: Mapping[str, object] = {"is_continuation": True}
"""Takes the place of a row that belongs to the product of an earlier row."""
# Counts are kept in 32 bits with a sign.
_MAX_COUNT = 2**31 - 1
_NO_DETAILS = (None, "", "None", "null")


def read_row(row: Mapping[str, object]) -> Reading | DropReason:
    """Read one row. What it does not state, or contradicts, is unknown in the product."""
    if row.get("is_continuation") is True:
        return DropReason.CONTINUATION
    product_id = clean_text(_text(row.get("parent_asin")))
    title = clean_text(_text(row.get("title")))
    details = _details(row.get("details"))
    if not product_id:
        return DropReason.NO_ID
    if not title:
        return DropReason.NO_TITLE
    if details is None:
        return DropReason.UNREADABLE_DETAILS
    features = tuple(filter(None, map(clean_text, _texts(row.get("features")))))
    description = " ".join(filter(None, map(clean_text, _texts(row.get("description")))))
    store = clean_text(_text(row.get("store"))) or None
    days, stock = ship_days_and_stock(product_id)
    leaf = _leaf(row, title)
    product = Product(
        id=product_id,
        title=cap_title(title),
        category=leaf.value.plural,
        description=description,
        features=features,
        store=store,
        rating=_rating(row.get("average_rating")),
        rating_count=_count(row.get("rating_number")),
        ship_days=days,
        stock=stock,
    )
    return Reading(_interpreted(product, title, row, details, leaf), leaf.value, _listing(title, store))


def _interpreted(
    product: Product, title: str, row: Mapping[str, object], details: Details, leaf: Stated[Leaf]
) -> Product:
    """Return the product with what is derived from raw texts (price, brand, attributes), and the sources of each."""
    brand = brand_of(details, row.get("store"))
    price = parse_price(row.get("price"), row.get("currency"))
    own_brand, family = brand.value if brand else None, leaf.value.family
    text = ProductText.of(title, product.features, product.description, own_brand, family)
    attributes: dict[str, Stated[str] | Stated[float]] = {
        **titled_measures(title, leaf.value),
        **discrete_attributes(details, text),
        **numeric_attributes(details),
    }
    origins: dict[str, Stated[Leaf] | Stated[str] | Stated[float]] = {**attributes}
    if leaf.raw:
        origins["category"] = leaf
    if brand:
        origins["brand"] = brand
    if price.kind is not PriceKind.UNKNOWN or price.currency:
        origins["price"] = Stated("", "price", row.get("price"))
    names = row.get("field_names")
    own_names = names if isinstance(names, dict) else {}
    return replace(
        product,
        brand=brand.value if brand else None,
        price_cents=price.in_dollars.low_cents,
        price_is_floor=price.in_dollars.is_floor,
        price_high_cents=price.in_dollars.high_cents,
        currency=price.currency,
        attributes={name: stated.value for name, stated in attributes.items()},
        provenance={name: origins[name].told(own_names) for name in sorted(origins)},
    )


def catalog_of(rows: Iterable[Mapping[str, object]]) -> tuple[Catalog, SourceReport]:
    """Read rows as one catalog. If ids are equal, or titles in the same store, the first row is kept.

    Raises :class:`SourceError` where no row is left.
    """
    kept: list[Reading] = []
    dropped: Counter[DropReason] = Counter()
    duplicates, notes = Duplicates(), CatalogNotes()
    for row in rows:
        reading = read_row(row)
        reason = reading if isinstance(reading, DropReason) else duplicates.reason(reading)
        if reason is not None:
            dropped[reason] += 1
        elif isinstance(reading, Reading):
            kept.append(reading)
            notes.note(reading)
    report = SourceReport(len(kept) + dropped.total(), len(kept), dict(dropped))
    if not kept:
        raise SourceError(f"no row became a product ({'; '.join(report.describe())}); give a file with products")
    settled = notes.decisions()
    return Catalog.from_products([settled.product(reading) for reading in kept], settled.categories), report


def _leaf(row: Mapping[str, object], title: str) -> Stated[Leaf]:
    path = [clean_text(element) for element in _texts(row.get("categories"))]
    if any(map(is_mojibake, path)):
        path = []
    main = without_control_tokens(_text(row.get("main_category"))) or None
    leaf, key = leaf_and_origin(title, path, main)
    raws: dict[str, object] = {"title": title, "categories": path, "main_category": main}
    return Stated(leaf, key, raws.get(key))


def _details(raw: object) -> Details | None:
    """Return the details; None where they cannot be read."""
    if isinstance(raw, str) and raw not in _NO_DETAILS:
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            return None
    if raw in _NO_DETAILS:
        return Details.of({})
    return Details.of(raw) if isinstance(raw, dict) else None


def _listing(title: str, store: str | None) -> bytes:
    words = [" ".join(fold_words(text)) or text for text in (title, store or "")]
    return blake2b("\x1f".join(words).encode(), digest_size=16).digest()


def _text(raw: object) -> str:
    return raw if isinstance(raw, str) else ""


def _texts(raw: object) -> list[str]:
    if isinstance(raw, str):
        return [raw]
    return [item for item in raw if isinstance(item, str)] if isinstance(raw, list) else []


def _rating(raw: object) -> float | None:
    """Return a rating above 0 and up to 5; a product that nobody rated has none."""
    known = isinstance(raw, int | float) and not isinstance(raw, bool) and 0 < raw <= 5
    return float(raw) if known and isinstance(raw, int | float) else None


def _count(raw: object) -> int:
    known = isinstance(raw, int | float) and not isinstance(raw, bool) and 0 <= raw <= _MAX_COUNT
    return int(raw) if known and isinstance(raw, int | float) else 0
