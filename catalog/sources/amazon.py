"""Rows of the Amazon-Reviews-2023 metadata shape, read as products.

Both published shapes are read alike: the raw one (``details`` an object, ``price`` a number) and the one of the data
hub (``details`` a JSON string, ``price`` a string, ``images`` an object of lists). Images and videos are not read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b

from ecom_rlve.catalog.derived import ship_days_and_stock
from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.leaf_categories import Leaf, category_of, leaf_of, unique_names
from ecom_rlve.catalog.phrases import fold_words
from ecom_rlve.catalog.prices import parse_price
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.catalog.sources.brands import brand_of, one_spelling
from ecom_rlve.catalog.sources.measures import numeric_attributes
from ecom_rlve.catalog.sources.report import DropReason, SourceReport
from ecom_rlve.catalog.sources.text import cap_title, clean_text
from ecom_rlve.catalog.sources.typed_attributes import ProductText, discrete_attributes, spellings
from ecom_rlve.catalog.table import Catalog
from ecom_rlve.catalog.variant_values import variant_values

_MAX_COUNT = 2**31 - 1
_NO_DETAILS = (None, "", "None", "null")


@dataclass(frozen=True, slots=True)
class Reading:
    """One row that became a product, with what only the whole catalog can settle still open."""

    product: Product
    """``category`` and ``brand`` as this row spells them."""
    leaf: Leaf
    listing: bytes
    """Equal for two rows with the same title and store, case and punctuation aside."""


def read_row(row: Mapping[str, object]) -> Reading | DropReason:
    """Read one row; what a row leaves open or contradicts is unknown in the product."""
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
    brand = brand_of(details, row.get("store"))
    leaf = leaf_of(title, _texts(row.get("categories")), _text(row.get("main_category")) or None)
    price = parse_price(row.get("price"))
    days, stock = ship_days_and_stock(product_id)
    product = Product(
        id=product_id,
        title=cap_title(title),
        category=leaf.plural,
        description=description,
        features=features,
        brand=brand,
        store=store,
        price_cents=price.cents,
        price_is_floor=price.is_floor,
        rating=_rating(row.get("average_rating")),
        rating_count=_count(row.get("rating_number")),
        ship_days=days,
        stock=stock,
        attributes={
            **discrete_attributes(details, ProductText.of(title, features, description, brand)),
            **numeric_attributes(details),
        },
    )
    return Reading(product, leaf, _listing(title, store))


def catalog_of(rows: Iterable[Mapping[str, object]]) -> tuple[Catalog, SourceReport]:
    """Read rows as one catalog: of equal ids, and of equal titles in one store, the first is kept.

    Raises :class:`SourceError` where no row is left.
    """
    kept: list[Reading] = []
    dropped: Counter[DropReason] = Counter()
    ids: set[str] = set()
    listings: set[bytes] = set()
    for row in rows:
        reading = read_row(row)
        if isinstance(reading, DropReason):
            dropped[reading] += 1
        elif reading.product.id in ids:
            dropped[DropReason.DUPLICATE_ID] += 1
        elif reading.listing in listings:
            dropped[DropReason.DUPLICATE_LISTING] += 1
        else:
            ids.add(reading.product.id)
            listings.add(reading.listing)
            kept.append(reading)
    report = SourceReport(len(kept) + dropped.total(), len(kept), dict(dropped))
    if not kept:
        raise SourceError(f"no row became a product ({'; '.join(report.describe())}); give a file with products")
    return Catalog.from_products(*_settled(kept)), report


def _settled(readings: list[Reading]) -> tuple[list[Product], list[Category]]:
    """Give every leaf a name of its own and every brand one spelling."""
    names = unique_names(reading.leaf for reading in readings)
    brands = one_spelling(reading.product.brand for reading in readings if reading.product.brand)
    titles: dict[Leaf, list[str]] = {}
    products: list[Product] = []
    for reading in readings:
        leaf, product = names[reading.leaf], reading.product
        brand = brands[product.brand.casefold()] if product.brand else None
        titles.setdefault(leaf, []).append(product.title)
        products.append(replace(product, category=leaf.plural, brand=brand))
    return products, [category_of(leaf, named, _naming_words) for leaf, named in titles.items()]


def _naming_words(category: Category, attribute: str) -> Iterator[str]:
    """Yield the words that give away a value of an attribute in a category."""
    yield from (value for value in variant_values(category, attribute) if isinstance(value, str))
    yield from spellings(attribute)


def _details(raw: object) -> dict[str, object] | None:
    """Return the details by lower-case key, of equal keys the first; None where they cannot be read."""
    if isinstance(raw, str) and raw not in _NO_DETAILS:
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            return None
    if raw in _NO_DETAILS:
        return {}
    if not isinstance(raw, dict):
        return None
    details: dict[str, object] = {}
    for key, value in raw.items():
        details.setdefault(" ".join(key.casefold().split()), value)
    return details


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
