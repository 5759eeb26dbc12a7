"""What a catalog is found to hold."""

from __future__ import annotations

from dataclasses import replace

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.inspection import PRICE_EDGES, Coverage, inspect
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.catalog.synthetic.shelf import synthetic_catalog

MUGS = Category("mugs", ("Kitchen", "Mugs"), "mug", "mugs", "color")
LAMPS = Category("lamps", ("Home", "Lamps"), "lamp", "lamps", "wattage")
MUG = Product("M1", "Mug", "mugs", brand="ACME", price_cents=499, currency="USD", stock=3, attributes={"color": "red"})
SHELF = (
    MUG,
    replace(MUG, id="M2", brand="acme ltd", price_cents=500, price_is_floor=True),
    replace(MUG, id="M3", brand=None, price_cents=500, price_is_floor=True, price_high_cents=900, attributes={}),
    replace(MUG, id="M4", price_cents=None, currency="EUR", stock=0, provenance={"price": "price: 3 EUR"}),
    replace(MUG, id="L1", category="lamps", price_cents=250_000, currency=None, attributes={"wattage": 8.0}),
)


def test_everything_is_counted() -> None:
    found = inspect(Catalog.from_products(SHELF, [MUGS, LAMPS]), examples=2)
    assert found.products == 5
    assert found.coverage["brand"] == Coverage(known=4, distinct=2)
    assert found.coverage["color"] == Coverage(3, 1)
    assert found.coverage["wattage"] == Coverage(1, 1)
    assert found.coverage["price"] == Coverage(4, 3)
    assert found.coverage.keys() == {"brand", "rating", "price", *ATTRIBUTES}
    prices = found.prices
    assert (prices.exact, prices.at_least, prices.range, prices.unknown) == (2, 1, 1, 1)
    assert dict(zip(PRICE_EDGES, prices.histogram, strict=True)) == {
        **dict.fromkeys(PRICE_EDGES, 0),
        0: 1,
        500: 2,
        100_000: 1,
    }
    assert prices.currencies == {"USD": 3, "EUR": 1}
    assert list(found.departments.items()) == [("Kitchen", 4), ("Home", 1)]
    assert list(found.leaves.items()) == [("mugs", 4), ("lamps", 1)]
    assert found.sold_out == 1


def test_examples_are_spread_and_say_where_fields_were_read() -> None:
    catalog = Catalog.from_products(SHELF, [MUGS, LAMPS])
    assert [each["id"] for each in inspect(catalog, 2).examples] == ["M1", "L1"]
    assert inspect(catalog, 0).examples == ()
    everything = inspect(catalog, 99).examples
    assert [each["id"] for each in everything] == [product.id for product in SHELF]
    assert everything[3]["provenance"] == {"price": "price: 3 EUR"}
    assert "price_cents" not in everything[3]


def test_a_procedural_catalog_adds_up() -> None:
    found = inspect(synthetic_catalog(300, 2))
    prices = found.prices
    assert prices.exact + prices.at_least + prices.range + prices.unknown == found.products == 300
    assert sum(prices.histogram) == found.products - prices.unknown == found.coverage["price"].known
    assert sum(found.departments.values()) == sum(found.leaves.values()) == 300
    assert prices.currencies == {}
