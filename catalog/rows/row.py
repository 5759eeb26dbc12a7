"""Rows of the Amazon-Reviews-2023 metadata shape, read as products.

Both published shapes are read in the same way: the raw one (``details`` an object, ``price`` a number) and the one of
the data hub (``details`` a JSON string, ``price`` a string, ``images`` an object of lists). Images and videos are not
read. Every other source is brought into this shape first. It may add ``currency``; ``status``, ``published`` and
``archived``; ``variants``, the product's own; ``field_names``, the source's own names of fields ("details.Color" ->
"g:color"); ``is_continuation``, true for a row that only adds to the product of an earlier row; ``is_shop_s_own``, true
where a shop gave the id to one product, so that equal listings are still different; ``unreadable``, why a row is none.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.derived import ship_days_and_stock
from ecom_rlve.catalog.kinds.leaf_categories import leaf_and_origin
from ecom_rlve.catalog.kinds.nouns import Leaf
from ecom_rlve.catalog.product import OwnVariant, Product
from ecom_rlve.catalog.rows.brands import brand_of
from ecom_rlve.catalog.rows.catalog_wide import CatalogNotes, Duplicates
from ecom_rlve.catalog.rows.control_tokens import without_control_tokens
from ecom_rlve.catalog.rows.measures import numeric_attributes
from ecom_rlve.catalog.rows.own_variants import own_variants
from ecom_rlve.catalog.rows.provenance import Details, Stated
from ecom_rlve.catalog.rows.reading import Reading
from ecom_rlve.catalog.rows.report import (
    MAX_BAD,
    MOST_FAULTS,
    STATUS_FIELDS,
    DropReason,
    SourceReport,
    check_report,
    unsold,
)
from ecom_rlve.catalog.rows.text import cap_title, clean_text, is_mojibake
from ecom_rlve.catalog.rows.title_measures import titled_measures
from ecom_rlve.catalog.rows.typed_attributes import ProductText, discrete_attributes
from ecom_rlve.catalog.shop_words.phrases import fold_words
from ecom_rlve.catalog.shop_words.prices import PriceKind, parsed_with_sign

FIELDS = (
    *("parent_asin", "title", "main_category", "categories", "features", "description", "details", "price", "store"),
    *("average_rating", "rating_number", "currency", *STATUS_FIELDS),
)
"""The fields that are read. A source with columns need not read any other."""
REQUIRED = ("parent_asin", "title")
"""A source without these fields has no products."""
CONTINUATION: Mapping[str, object] = {"is_continuation": True}
"""Takes the place of a row that belongs to the product of an earlier row."""
# Counts are kept in 32 bits with a sign.
_MAX_COUNT = 2**31 - 1
_NO_DETAILS = (None, "", "None", "null")


def unreadable_row(fault: str) -> dict[str, object]:
    """Return what takes the place of a row that cannot be read; ``fault`` says file, line and remedy."""
    return {"unreadable": fault}


def fault_of_row(row: Mapping[str, object]) -> str:
    """Return why a row cannot be read; empty if it can."""
    return _text(row.get("unreadable"))


def read_row(row: Mapping[str, object]) -> Reading | DropReason:
    """Read one row. What it does not state, or contradicts, is unknown in the product."""
    if "unreadable" in row:
        return DropReason.UNREADABLE
    reason = unsold(row)
    if reason is not None:
        return reason
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
    whole = _interpreted(product, title, row, details, leaf)
    return Reading(whole, leaf.value, _listing(whole, title, is_shop_s_own=row.get("is_shop_s_own") is True))


def _interpreted(
    product: Product, title: str, row: Mapping[str, object], details: Details, leaf: Stated[Leaf]
) -> Product:
    """Return the product with what is derived from raw texts (price, brand, attributes), and the sources of each."""
    brand = brand_of(details, row.get("store"))
    variants = own_variants(row.get("variants"), row.get("currency"))
    price, sign = parsed_with_sign(row.get("price"), row.get("currency"))
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
        price_cents=price.low_cents,
        price_is_floor=price.is_floor,
        price_high_cents=price.high_cents,
        currency=sign or None,
        stock=_sold_stock(product.stock, variants),
        variants=variants,
        attributes={name: stated.value for name, stated in attributes.items()},
        provenance={name: origins[name].told(own_names) for name in sorted(origins)},
    )


def catalog_of(
    rows: Iterable[Mapping[str, object]],
    *,
    currency: str | None = None,
    schema_currency: str | None = "USD",
    max_bad: float = MAX_BAD,
) -> tuple[Catalog, SourceReport]:
    """Read rows as one catalog. If ids are equal, or listings look the same, the first row is kept.

    ``currency`` is the code of the catalog's currency; None: the one that the rows state, or ``schema_currency`` where
    they state none (that of the Amazon shape). ``max_bad`` is the share of rows that may be unreadable. Raises
    :class:`SourceError` where more are, no row states a currency and none is given, or no row is left.
    """
    kept: list[Reading] = []
    faults: list[str] = []
    dropped: Counter[DropReason] = Counter()
    duplicates, notes = Duplicates(), CatalogNotes()
    for row in rows:
        reading = read_row(row)
        reason = reading if isinstance(reading, DropReason) else duplicates.reason(reading)
        if reason is DropReason.UNREADABLE and len(faults) < MOST_FAULTS:
            faults.append(fault_of_row(row))
        if reason is not None:
            dropped[reason] += 1
        elif isinstance(reading, Reading):
            kept.append(reading)
            notes.note(reading)
    report = SourceReport(len(kept) + dropped.total(), len(kept), dict(dropped), tuple(faults))
    check_report(report, max_bad)
    settled = notes.decisions(currency, schema_currency)
    return Catalog.from_products([settled.product(reading) for reading in kept], settled.categories), report


def _sold_stock(stock: int, variants: Sequence[OwnVariant]) -> int:
    """Return a product's stock, which is no more than what there is of its most plentiful variant."""
    stated = [variant.stock for variant in variants if variant.stock is not None]
    return min(stock, max(stated)) if variants and len(stated) == len(variants) else stock


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


def _listing(product: Product, title: str, *, is_shop_s_own: bool) -> bytes:
    """Return a digest of title and store, and of what tells listings of the same title apart: values and price."""
    if is_shop_s_own:
        return blake2b(product.id.encode("utf-8", "replace"), digest_size=16, person=b"own").digest()
    words = [" ".join(fold_words(text)) or text for text in (title, product.store or "")]
    told = [*words, repr(sorted(product.attributes.items())), repr(product.price_cents)]
    return blake2b("\x1f".join(told).encode(), digest_size=16).digest()


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
