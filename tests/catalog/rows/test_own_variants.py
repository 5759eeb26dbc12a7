"""The variants that a shop states: which options count, and how they are kept."""

from __future__ import annotations

from typing import Any

import pytest

from ecom_rlve.catalog.product import OwnVariant
from ecom_rlve.catalog.rows.brands import brand_of
from ecom_rlve.catalog.rows.own_variants import MOST, own_variants
from ecom_rlve.catalog.rows.provenance import Details
from ecom_rlve.catalog.rows.row import catalog_of


def stated(**fields: Any) -> dict[str, Any]:
    return {"options": fields.pop("options", {}), "price": fields.pop("price", ""), "stock": None} | fields


def test_options_become_typed_attributes() -> None:
    raw = [
        stated(options={"Colour": "Navy Blue", "Ring Size": "S", "Warranty": "2 years"}, price="5.00", stock=3),
        stated(options={"Colour": "Ocean Mist", "Ring Size": "M"}, price="€6,50", stock=0),
        stated(options={"Capacity": "1.5 l"}),
    ]
    assert own_variants(raw) == (
        OwnVariant({"color": "navy", "size": "small"}, 500, 3),
        OwnVariant({"color": "ocean mist", "size": "medium"}, 650, 0),
        OwnVariant({"capacity": 1500.0}),
    )


@pytest.mark.parametrize(
    "raw",
    [
        None,
        "S",
        [],
        [stated(options={"Size": "S"})],
        [stated(options={"Size": "S"}), stated(options={"size": "S"})],
        [stated(options={"Title": "$25"}), stated(options={"Title": "$50"})],
        [stated(options={"Style": "$25"}), stated(options={"Style": "$50"})],
        [{"options": {"Size": 3}}, 7],
    ],
)
def test_one_choice_is_none(raw: object) -> None:
    assert own_variants(raw) == ()


def test_of_equal_variants_one_in_stock_is_kept_and_not_too_many() -> None:
    raw = [
        stated(options={"Size": "S"}, stock=0),
        stated(options={"Size": "S"}, stock=2),
        stated(options={"Size": "M"}),
    ]
    assert [each.stock for each in own_variants(raw)] == [2, None]
    assert len(own_variants([stated(options={"Size": f"{at} cm"}) for at in range(1000)])) == MOST


def rows(options: list[str], **fields: Any) -> list[dict[str, Any]]:
    variants = [stated(options={"Size": option}, price="5.00", stock=2) for option in options]
    return [{"parent_asin": f"P{at}", "title": f"Hoodie {at}", "variants": variants, **fields} for at in range(5)]


def test_variants_are_kept_with_the_catalog_and_change_its_fingerprint() -> None:
    catalog, _ = catalog_of(rows(["S", "M", "L"]))
    assert [dict(each.values) for each in catalog.own_variants(0)] == [
        {"size": "small"},
        {"size": "medium"},
        {"size": "large"},
    ]
    assert catalog.product(0).variants == catalog.own_variants(0)
    assert catalog.product(0).stock <= 2
    assert catalog.category_of(0).variant_attribute == "size"
    assert catalog_of(rows(["S", "M", "XL"]))[0].fingerprint != catalog.fingerprint


def test_a_variant_has_no_price_in_another_currency() -> None:
    catalog, _ = catalog_of(rows(["S", "M"], currency="EUR"), currency="USD")
    assert [each.price_cents for each in catalog.own_variants(0)] == [None, None]
    assert catalog.product(0).price_cents is None


@pytest.mark.parametrize(
    "store", ["My Store", "marketplace", "shop.myshopify.com", "Default Vendor", "the online shop"]
)
def test_a_store_that_was_never_named_is_no_brand(store: str) -> None:
    assert brand_of(Details.of({"Brand": store}), store) is None


@pytest.mark.parametrize("store", ["The Body Shop", "Disney Store", "Acme Company"])
def test_a_brand_may_be_called_a_shop(store: str) -> None:
    found = brand_of(Details.of({}), store)
    assert found is not None
    assert found.value == store
