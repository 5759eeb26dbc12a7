"""Objects of the JSON files that shops offer, as rows: ``products.json`` of Shopify, and the products of Best Buy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ecom_rlve.catalog.sources.category_paths import category_fields
from ecom_rlve.catalog.sources.shopify import body_fields, option_name
from ecom_rlve.catalog.sources.shops.offers import Offer, rows_of

_GRAMS = {"g": 1.0, "kg": 1000.0, "oz": 28.349523125, "lb": 453.59237}


def shopify_shape(value: Mapping[str, Any]) -> Mapping[str, object]:
    """Return a product of Shopify's ``products.json`` or of its Admin API as a row with variants."""
    return next(rows_of(list(_shopify_offers(value))))


def best_buy_shape(value: Mapping[str, Any]) -> Mapping[str, object]:
    """Return a product of Best Buy's open data set as a row."""
    path = value.get("category") or value.get("categoryPath") or []
    names = [str(each.get("name", "")) if isinstance(each, dict) else str(each) for each in path]
    category, own = category_fields({"category": " > ".join(filter(None, names))}, {})
    return {
        "parent_asin": _text(value.get("sku")),
        "title": _text(value.get("name")),
        "description": _text(value.get("description") or value.get("longDescription")),
        "price": value.get("price", value.get("regularPrice")),
        "currency": value.get("currency"),
        "average_rating": value.get("customerReviewAverage"),
        "rating_number": value.get("customerReviewCount"),
        "details": {"Brand": _text(value.get("manufacturer")), "Color": _text(value.get("color"))},
        "status": "inactive" if value.get("active") is False else "",
        "field_names": {"details.Brand": "manufacturer", **own},
        "is_shop_s_own": True,
        **category,
    }


def _shopify_offers(value: Mapping[str, Any]) -> Iterator[Offer]:
    listed = [each for each in value.get("options") or () if isinstance(each, dict)]
    named = {at: option_name(_text(each.get("name")), "") for at, each in enumerate(listed, 1)}
    options = {at: name for at, name in named.items() if name}
    category, names = category_fields({}, {"product_type": _text(value.get("product_type"))})
    fields = {
        "parent_asin": _text(value.get("handle") or value.get("id")),
        "title": _text(value.get("title")),
        "store": _text(value.get("vendor")),
        "status": _text(value.get("status")),
        "published": "no" if "published_at" in value and value["published_at"] is None else "",
        **body_fields(_text(value.get("body_html"))),
        **category,
    }
    own_names = {f"details.{name}": f"variants.option{at}" for at, name in options.items()}
    own_names |= {"details.Brand": "vendor", "store": "vendor", "price": "variants.price", "title": "title", **names}
    variants = [each for each in value.get("variants") or () if isinstance(each, dict)]
    for at, variant in enumerate(variants or [{}]):
        stated = {name: _text(variant.get(f"option{place}")) for place, name in options.items()}
        yield Offer(
            fields=fields if at == 0 else {},
            details={"Brand": _text(value.get("vendor")), **stated, "Item Weight": _weight(variant)},
            options=tuple(stated),
            price=_text(variant.get("price")),
            stock=_stock(variant),
            names=own_names,
        )


def _stock(variant: Mapping[str, Any]) -> int | None:
    if variant.get("available") is False:
        return 0
    units = variant.get("inventory_quantity")
    is_counted = variant.get("inventory_management") and variant.get("inventory_policy") != "continue"
    return max(0, units) if is_counted and isinstance(units, int) else None


def _weight(variant: Mapping[str, Any]) -> str:
    grams, unit = variant.get("grams"), _GRAMS.get(_text(variant.get("weight_unit")))
    if not grams and unit and isinstance(variant.get("weight"), int | float):
        grams = variant["weight"] * unit
    return f"{grams:g} g" if isinstance(grams, int | float) and grams > 0 else ""


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
