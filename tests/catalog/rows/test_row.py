"""One row of the Amazon-Reviews-2023 metadata shape: what becomes known, what stays unknown, what is dropped."""

from __future__ import annotations

import json
import pickle
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.derived import ship_days_and_stock
from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.product import UNKNOWN_KIND, Product
from ecom_rlve.catalog.rows.reading import Reading
from ecom_rlve.catalog.rows.report import DropReason, SourceReport
from ecom_rlve.catalog.rows.row import catalog_of, read_row
from ecom_rlve.catalog.rows.text import MAX_TITLE, cap_title, clean_text, is_mojibake


def row(**fields: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "parent_asin": "B01",
        "title": "Sturdy Bracelet",
        "main_category": "AMAZON FASHION",
        "categories": [],
        "features": [],
        "description": [],
        "details": {},
        "price": None,
        "store": None,
        "average_rating": None,
        "rating_number": None,
        "images": [{"thumb": "t", "large": "l", "variant": "MAIN", "hi_res": None}],
    }
    return base | fields


def read(**fields: Any) -> Product:
    reading = read_row(row(**fields))
    assert isinstance(reading, Reading)
    return reading.product


def test_a_full_row() -> None:
    product = read(
        title="Sturdy &amp; Black <b>Leather</b> Bracelet",
        features=["Genuine\nleather", "<br>", "Size: Large"],
        description=["<p>For every day.</p>", "Made to last"],
        details={"Color": "Black", "Size": "Large", "Item Weight": "3.6 Ounces", "Brand": "Acme"},
        price=10.99,
        store="A reseller",
        average_rating=4.5,
        rating_number=12,
    )
    days, stock = ship_days_and_stock("B01")
    assert product == Product(
        id="B01",
        title="Sturdy & Black Leather Bracelet",
        category="bracelets",
        description="For every day. Made to last",
        features=("Genuine leather", "Size: Large"),
        brand="Acme",
        store="A reseller",
        price_cents=1099,
        rating=4.5,
        rating_count=12,
        ship_days=days,
        stock=stock,
        attributes={"color": "black", "size": "large", "material": "leather", "weight": 102.06},
        provenance={
            "brand": "details.Brand: Acme",
            "category": "title: Sturdy & Black Leather Bracelet",
            "color": "details.Color: Black",
            "material": "title: Sturdy & Black Leather Bracelet",
            "price": "price: 10.99",
            "size": "details.Size: Large",
            "weight": "details.Item Weight: 3.6 Ounces",
        },
    )


def test_what_a_row_leaves_open_is_unknown() -> None:
    product = read()
    assert (product.brand, product.store, product.price_cents, product.rating) == (None, None, None, None)
    assert (product.rating_count, dict(product.attributes), product.description) == (0, {}, "")
    assert (product.price_high_cents, product.currency) == (None, None)
    assert product.provenance == {"category": "title: Sturdy Bracelet"}


@pytest.mark.parametrize(
    ("price", "cents", "is_floor", "high", "currency"),
    [
        ("from 12.99", 1299, True, None, None),
        ("10.99 - 15.99 USD", 1099, True, 1599, "USD"),
        ("10.99 - 15.99 EUR", 1099, True, 1599, "EUR"),
        ("£5", 500, False, None, "GBP"),
    ],
)
def test_prices_keep_their_kind_and_their_currency(
    price: str, cents: int | None, is_floor: bool, high: int | None, currency: str | None
) -> None:
    product = read(price=price)
    assert (product.price_cents, product.price_is_floor, product.price_high_cents) == (cents, is_floor, high)
    assert product.currency == currency
    assert product.provenance["price"] == f"price: {price}"


def test_a_currency_of_its_own_is_the_price_s() -> None:
    priced = [read(price="5", currency="EUR"), read(price="5", currency="USD"), read(price="5")]
    assert [(product.price_cents, product.currency) for product in priced] == [(500, "EUR"), (500, "USD"), (500, None)]


def test_an_unreadable_price_has_no_provenance() -> None:
    assert "price" not in read(price="—").provenance


@pytest.mark.parametrize(
    ("fields", "origin"),
    [
        ({"categories": ["Jewelry &amp; more", "Bracelets"]}, "categories: Jewelry & more > Bracelets"),
        ({"categories": ["Jewelry", "Rings"]}, "title: Sturdy Bracelet"),
        ({"categories": ["Jewelry", "CafÃ© Rings"]}, "title: Sturdy Bracelet"),
        ({"title": "Blorp", "main_category": "Necklace"}, "main_category: Necklace"),
        ({"title": "Blorp", "main_category": None, "description": ["Nice. A necklace."]}, None),
        ({"title": "Blorp"}, None),
        ({"title": "Blorp", "main_category": None, "description": ["A ring of retro charm."]}, None),
    ],
)
def test_a_category_says_where_it_comes_from(fields: dict[str, Any], origin: str | None) -> None:
    assert read(**fields).provenance.get("category") == origin


def test_provenance_is_cut_and_can_be_stored() -> None:
    raw = "Black \ud800 " + "x" * 500
    product = read(title=f"Bracelet {raw}", details={"Brand": "A\ud800"})
    assert product.provenance["brand"] == "details.Brand: A?"
    assert all(len(text.partition(": ")[2]) <= 80 for text in product.provenance.values())
    assert "".join(product.provenance.values()).isascii()


def test_a_feed_s_own_names_of_fields_are_shown() -> None:
    names = {"details.Color": "g:color", "price": "g:price"}
    product = read(title="Red Bracelet", details={"Color": "Red"}, price="5 USD", field_names=names)
    assert product.provenance["color"] == "g:color: Red"
    assert product.provenance["price"] == "g:price: 5 USD"


def test_an_attribute_from_a_feature_quotes_it() -> None:
    features = ["Warm", "Leather", "Colour: red"]
    assert dict(read(title="Boots", features=features).provenance) == {
        "category": "title: Boots",
        "color": "features: Colour: red",
        "material": "features: Leather",
    }


def test_a_reading_crosses_processes() -> None:
    reading = read_row(row(details={"Brand": "Acme", "Item Weight": "5 Grams"}))
    assert pickle.loads(pickle.dumps(reading)) == reading


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"parent_asin": None}, DropReason.NO_ID),
        ({"parent_asin": " "}, DropReason.NO_ID),
        ({"title": ""}, DropReason.NO_TITLE),
        ({"title": "<br />"}, DropReason.NO_TITLE),
        ({"title": None}, DropReason.NO_TITLE),
        ({"details": "{'Brand': 'Acme'}"}, DropReason.UNREADABLE_DETAILS),
        ({"details": "[1]"}, DropReason.UNREADABLE_DETAILS),
        ({"details": 3}, DropReason.UNREADABLE_DETAILS),
        ({"is_continuation": True}, DropReason.CONTINUATION),
    ],
)
def test_rows_are_dropped_for_a_reason(fields: dict[str, Any], reason: DropReason) -> None:
    assert read_row(row(**fields)) is reason


@pytest.mark.parametrize(
    ("details", "store", "brand"),
    [
        ({"Brand": "A", "Brand Name": "B", "Manufacturer": "C"}, "D", "A"),
        ({"Brand Name": "B", "Manufacturer": "C"}, "D", "B"),
        ({"Manufacturer": "C"}, "D", "C"),
        ({"Manufacturer": "Does Not Apply"}, "D", "D"),
        ({"Brand": "Generic"}, None, None),
        ({"Brand": "CafÃ© Noir"}, "Café Noir", "Café Noir"),
        ({"Brand": "<b>A</b>"}, None, None),
        ({"Brand": ["A"]}, "  Two   Words ", "Two Words"),
    ],
)
def test_brand_comes_from_the_details_then_the_store(details: dict[str, Any], store: str, brand: str | None) -> None:
    assert read(details=details, store=store).brand == brand


def known(**fields: Any) -> dict[str, str | float]:
    return dict(read(**fields).attributes)


@pytest.mark.parametrize(
    ("details", "title", "attributes"),
    [
        ({"Color": "Matt Black"}, "Black Watch", {"color": "black"}),
        ({"Color": "Grey"}, "Gray Watch", {"color": "gray"}),
        ({"Color": "Red"}, "Watch", {"color": "red"}),
        ({"Colour": "Teal"}, "Basic Tee", {"color": "teal"}),
        ({"Color": "Sand"}, "Basic Tee", {"color": "sand"}),
        ({"Color": "Red"}, "Blue Watch", {}),
        ({"Color": "Pink, White"}, "Watch with pink and white dial", {}),
        ({"Color": "Style 10"}, "Style 10 Watch", {}),
        ({"Color": "Rose Gold"}, "Rose Gold Watch", {"color": "rose gold"}),
        ({}, "Gold Plated Bracelet", {"material": "gold plated"}),
        ({}, "Black and Gold Watch", {}),
        # A word of a name, of an ingredient or of another thing is no colour and no material.
        ({}, "Used 2022 White Hawk 27RK Travel Trailer", {}),
        ({}, "Zinc Tablets", {}),
        ({}, "Gold's Gym Hoodie", {}),
        ({}, "Silver Spoon Sugar 1kg", {"weight": 1000.0}),
        ({}, "Red Wine Glasses", {}),
        ({}, "Steel Toe Boots", {}),
        ({}, "Organic Green Tea", {}),
        ({}, "Happy Days (Vinyl)", {}),
        # What stands beside the noun says how it is.
        ({}, "Navy Blue Cotton Zip Hoodie", {"color": "navy", "material": "cotton"}),
        ({}, "Harbor Hoodie, Black", {"color": "black"}),
        ({}, "Sandals in Dark Brown Leather", {"color": "brown", "material": "leather"}),
        ({}, "Nitrile Gloves (Medium, Black)", {"color": "black", "material": "nitrile", "size": "medium"}),
        ({}, "Large Canvas Tote", {"material": "canvas"}),
        ({}, "Face Cream", {}),
        ({"Material": "Faux Leather"}, "PU Leather Belt", {"material": "leatherette"}),
        ({"Material": "Nylon, Cotton"}, "Nylon and Cotton Belt", {}),
        ({"Material": "Baby-boys"}, "Baby-boys Belt", {}),
        ({}, "Lace Up Boots", {}),
        ({"Size": "X-Large (Pack of 3)"}, "Gloves XL", {"size": "xl"}),
        ({"Size": "Large"}, "Gloves X-Large", {}),
        ({"Size": "100 Count (Pack of 1)"}, "100 Count Gloves", {}),
        ({"Size": '12"'}, "12 inch Balloon", {"size": "12 inch"}),
        ({"Size": "10"}, "Boots, size 10", {"size": "10"}),
        ({"Size": "10"}, "10 Boots", {"size": "10"}),
        ({"Size": "US 6 | EU 36"}, "Boots, EU 36 (US 6)", {"size": "eu 36"}),
        ({"Size": "EU 49 | US 15"}, "Boots EU 49", {"size": "eu 49"}),
        ({"Size": "US 12.5"}, "Boots US 12.5", {"size": "us 12.5"}),
        ({"Size": "US 6 | EU 36"}, "Boots, US 6", {"size": "eu 36"}),
        ({"Size": "EU 36 | EU 37"}, "Boots EU 36", {}),
        ({"Item Form": "Cream"}, "Paint Brush", {}),
        ({"Item Form": "Spray"}, "Spray Bottle", {"item_form": "spray"}),
        ({"Item Form": "don¡¯t"}, "don¡¯t Bottle", {}),
        ({"Item Form": "拉链"}, "拉链 Bottle", {}),
        ({"Item Form": "{spray}"}, "Spray Bottle", {}),
        ({"Scent": "a very long scent that is a sentence about smells"}, "a very long scent that is a", {}),
        ({"Age Range (Description)": "Adult"}, "Bibs for Adults", {"age_range": "adult"}),
        ({"Connector Type": "USB Type C"}, "USB-C Cable", {"connector_type": "usb-c"}),
        ({"Connector Type": "3.5mm Jack"}, "Cable 3.5 mm jack", {"connector_type": "3.5 mm jack"}),
        ({"Style": "Does Not Apply"}, "Bracelet that does not apply", {}),
    ],
)
def test_discrete_attributes_are_stated_or_stand_beside_the_noun(
    details: dict[str, Any], title: str, attributes: dict[str, str]
) -> None:
    assert known(details=details, title=title) == attributes


def test_a_material_of_a_part_is_not_the_product_s() -> None:
    assert known(title="Boots", features=["Rubber sole", "Fleece lined"]) == {}
    assert known(title="Boots", features=["Leather", "Rubber sole"]) == {"material": "leather"}


def test_the_brand_in_a_title_is_no_colour() -> None:
    assert known(title="Blue Hawk Work Gloves", details={"Brand": "Blue Hawk"}) == {}


@pytest.mark.parametrize(
    ("details", "attributes"),
    [
        ({"Item Weight": "0.704 ounces"}, {"weight": 19.96}),
        ({"Package Weight": "0.4 Kilograms"}, {}),
        ({"Item Weight": "12 pounds", "Package Weight": "0.704 ounces"}, {}),
        ({"Item Weight": "0.704 ounces", "Package Weight": "12 pounds"}, {}),
        (
            {"Item Weight": "4.6 ounces", "Package Dimensions": "6.93 x 4.21 x 3.62 inches; 4.66 Ounces"},
            {"weight": 130.41},
        ),
        ({"Item Weight": "4 ounces", "Product Dimensions": "6 x 4 x 3 inches; 8 Ounces"}, {"length": 15.24}),
        ({"Product Dimensions": "8.66 x 3.34 x 0.59 inches; 1.76 Ounces"}, {"weight": 49.9, "length": 22.0}),
        ({"Product Dimensions": "1.5 x 1 x 0.25 inches; 14.72 Pounds"}, {}),
        ({"Product Dimensions": "9 x 7 x 1.5 inches; 0.01 Ounces"}, {}),
        ({"Product Dimensions": '48"L x 24"W'}, {"length": 121.92}),
        ({"Item Length": "8 Inches", "Item Dimensions LxWxH": "9 x 1 x 1 inches"}, {}),
        ({"Wattage": "1.5 kW", "Screen Size": "15.6 Inches"}, {"wattage": 1500.0, "screen_size": 39.62}),
        ({"Capacity": "20 Fluid Ounces", "Battery Life": "90 minutes"}, {"capacity": 591.47, "battery_life": 1.5}),
        ({"Capacity": "12 Cups", "Cable Length": "2 Yards"}, {"capacity": 2839.06, "length": 182.88}),
        ({"Volume": "2 Quarts"}, {"capacity": 1892.71}),
        ({"Capacity": "1 Pint", "Item Volume": "0.125 Gallons"}, {"capacity": 473.18}),
        ({"Capacity": "300 Pounds", "Wattage": "65"}, {}),
        ({" item   WEIGHT ": "5 Grams"}, {"weight": 5.0}),
    ],
)
def test_numbers_are_converted_and_contradictions_are_unknown(
    details: dict[str, Any], attributes: dict[str, float]
) -> None:
    assert known(details=details) == attributes


@pytest.mark.parametrize("average", [None, "4.5", True, -1, 0, 5.1, float("nan")])
def test_a_rating_out_of_range_is_unknown(average: object) -> None:
    assert read(average_rating=average).rating is None


@pytest.mark.parametrize("number", [None, "3", True, -1, 2**40, float("nan")])
def test_a_rating_count_out_of_range_is_zero(number: object) -> None:
    assert read(rating_number=number).rating_count == 0


def test_both_shapes_read_alike() -> None:
    details = {"Brand": "Acme", "Item Weight": "5 Grams", "Best Sellers Rank": {"Toys": 3}, "Directors": ["A", "B"]}
    raw = row(details=details, price=19.99)
    hub = raw | {
        "details": json.dumps(details),
        "price": "19.99",
        "images": {"hi_res": [None], "large": ["l"], "thumb": ["t"], "variant": ["MAIN"]},
        "subtitle": None,
        "author": None,
    }
    assert read_row(hub) == read_row(raw)


def test_duplicates_are_dropped_and_counted() -> None:
    rows = [
        row(parent_asin="1", title="Red Bracelet", store="Shop"),
        row(parent_asin="1", title="Other Bracelet"),
        row(parent_asin="2", title="RED bracelet!", store="shop"),
        row(parent_asin="3", title="Red Bracelet", store="Other shop"),
        row(parent_asin=None),
    ]
    catalog, report = catalog_of(rows)
    assert [catalog.ids[at] for at in range(catalog.size)] == ["1", "3"]
    assert report == SourceReport(
        5, 2, {DropReason.DUPLICATE_ID: 1, DropReason.DUPLICATE_LISTING: 1, DropReason.NO_ID: 1}
    )
    assert report.describe() == [
        "5 rows read, 2 kept",
        "1 dropped: an id that an earlier row has",
        "1 dropped: no id",
        "1 dropped: the title and store of an earlier row",
    ]


@pytest.mark.parametrize(
    "differs",
    [{"details": {"Color": "Red"}, "features": ["Red"]}, {"price": "9.99"}, {"is_shop_s_own": True}],
)
def test_what_tells_listings_apart_keeps_them(differs: dict[str, Any]) -> None:
    rows = [row(parent_asin="1", title="Bracelet"), row(parent_asin="2", title="Bracelet") | differs]
    assert catalog_of(rows)[1].kept == 2


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"status": "draft"}, DropReason.DRAFT),
        ({"status": "Archived", "published": "true"}, DropReason.ARCHIVED),
        ({"published": "FALSE"}, DropReason.UNPUBLISHED),
        ({"published": False}, DropReason.UNPUBLISHED),
        ({"published": "-1"}, DropReason.DRAFT),
        ({"archived": True}, DropReason.ARCHIVED),
        ({"status": "active", "published": "1", "archived": "no"}, None),
        ({"status": "", "published": None}, None),
    ],
)
def test_what_a_shop_does_not_sell_is_dropped_by_reason(state: dict[str, Any], reason: DropReason | None) -> None:
    reading = read_row(row() | state)
    assert reading is reason if reason else not isinstance(reading, DropReason)


def test_a_report_that_loses_rows_is_refused() -> None:
    with pytest.raises(AssertionError, match="lost"):
        SourceReport(3, 1, {DropReason.NO_ID: 1})


def test_a_source_without_products_is_refused() -> None:
    with pytest.raises(SourceError, match="1 dropped: no title"):
        catalog_of([row(title="")])


def test_a_brand_has_one_spelling_in_a_catalog() -> None:
    names = ["dotn", "Dotn", "Dotn", "acme", "ACME"]
    rows = [row(parent_asin=str(at), title=f"Bracelet {at}", details={"Brand": name}) for at, name in enumerate(names)]
    catalog, _ = catalog_of(rows)
    assert catalog.column("brand").vocabulary == ("ACME", "Dotn")
    assert [catalog.value(at, "brand") for at in range(5)] == ["Dotn", "Dotn", "Dotn", "ACME", "ACME"]


def test_a_long_title_is_cut_at_a_word() -> None:
    title = "word " * 60
    assert cap_title(title.strip()) == ("word " * 40).strip() + "…"
    assert cap_title("words " * 60) == ("words " * 33).strip() + "…"
    assert len(cap_title("x" * 500)) == MAX_TITLE
    assert cap_title("y" * MAX_TITLE) == "y" * MAX_TITLE


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("a<br />b<br>c", "a b c"),
        ("&lt;p&gt;Soft&nbsp;&amp; warm&lt;/p&gt;", "Soft & warm"),
        ("<script>x()</script>Hat<!-- no -->", "Hat"),
        ("5 < 6 > 4, I <3 it", "5 < 6 > 4, I <3 it"),
        ("don¡¯t", "don¡¯t"),
        ("tab\tand\x00 null\u200b", "tab and null"),
        ("lone \ud800", "lone ?"),
        (f"a &#{'9' * 5_000}; b", "a \ufffd b"),
        ("<SCRIPT a='b'>x <!-- y</script >Hat<style>z</style>", "Hat"),
        ("<script>a <!-- b --> c", "a c"),
        ("<!-- a Hat", "<!-- a Hat"),
        ("<script Hat", "<script Hat"),
    ],
)
def test_markup_goes_and_text_stays(raw: str, text: str) -> None:
    assert clean_text(raw) == text


@pytest.mark.parametrize("opening", ["<script>", "<!--", "<style ", "<script></style>", "&#", "[|", "<a_b"])
def test_a_text_of_a_megabyte_of_openings_is_cleaned_at_once(opening: str) -> None:
    """Each opening looked for its end in all the rest: this would take a quarter of an hour."""
    start = time.process_time()
    assert len(clean_text(opening * (2**20 // len(opening)))) < 2**20 + len(opening)
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    "path", [["Lamps"] * 10_000, ["Home", "lamp, " * 50_000], ["Home", "a" * 300_000], ["Home"] * 20 + ["Lamps"]]
)
def test_a_listing_in_the_place_of_a_path_is_none(path: list[str]) -> None:
    start = time.process_time()
    assert read(title="Blorp", categories=path).category == UNKNOWN_KIND
    assert read(title="Blorp", main_category=path[-1] * 200).category == UNKNOWN_KIND
    assert read(title="Bracelet", categories=path).category == "bracelets"
    assert time.process_time() - start < 5


@pytest.mark.parametrize("text", ["don¡¯t", "cafÃ©", "it\ufffds", "â€œHiâ€"])
def test_mojibake_is_recognised(text: str) -> None:
    assert is_mojibake(text)


@pytest.mark.parametrize("text", ["café", "Löwe", "Tiger’s Eye", "½ in", "plain"])
def test_good_text_is_no_mojibake(text: str) -> None:
    assert not is_mojibake(text)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=20), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(sorted(row())), _JSON))
def test_no_row_raises(fields: dict[str, Any]) -> None:
    reading = read_row(row(**fields))
    assert isinstance(reading, DropReason) or reading.product.id
