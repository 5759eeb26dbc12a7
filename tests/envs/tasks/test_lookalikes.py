"""Lookalikes in CART: products of one kind that differ in one known fact only."""

from __future__ import annotations

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.catalog.search.search import Search
from ecom_rlve.envs.tasks.cart.lookalikes import with_lookalike
from ecom_rlve.envs.world.shop import Shop

MATS = Category("yoga mats", ("Sports", "Yoga mats"), "yoga mat", "yoga mats", "color")


def test_they_differ_in_one_fact_and_not_in_two() -> None:
    facts: list[tuple[str | None, int, dict[str, str | float]]] = [
        ("Acme", 1000, {"material": "cork", "weight": 900.0, "color": "red"}),
        ("Acme", 1000, {"material": "cork", "weight": 950.0, "color": "blue"}),
        ("Acme", 1200, {"material": "jute", "weight": 950.0}),
        ("Bell", 3000, {"material": "tpe"}),
        (None, 3000, {"material": "tpe"}),
        ("Cork", 9000, {"material": "rubber", "length": 180.0}),
    ]
    products = [
        Product(f"p{at}", "Mat", MATS.name, brand=brand, price_cents=price, attributes=attributes)
        for at, (brand, price, attributes) in enumerate(facts)
    ]
    catalog = Catalog.from_products(products, [MATS])
    assert with_lookalike(Shop(catalog, Search.build(catalog)), MATS.name).tolist() == [0, 1, 3, 4]


def test_they_are_those_that_a_comparison_of_all_pairs_finds(shop: Shop) -> None:
    found = 0
    for category in shop.catalog.categories[:20]:
        names = ["brand", "price", *(name for name in ATTRIBUTES if name != category.variant_attribute)]
        rows = shop.catalog.rows_of_category(category.name).tolist()
        facts = {row: [shop.catalog.value(row, name) for name in names] for row in rows}
        alike = [
            row
            for row in rows
            if any(sum(a != b for a, b in zip(facts[row], facts[other], strict=True)) == 1 for other in rows)
        ]
        assert with_lookalike(shop, category.name).tolist() == alike
        found += len(alike)
    assert found > 10
