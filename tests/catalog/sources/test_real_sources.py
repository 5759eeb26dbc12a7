"""Every real file is read whole: rows in = kept + dropped by reason, with the exact counts.

Files of the same schemas with rows of nobody's shop stand beside these tests, so that a clone alone tests this as well.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecom_rlve.catalog.product import UNKNOWN_KIND, Product
from ecom_rlve.catalog.rows.reading import Reading
from ecom_rlve.catalog.rows.row import catalog_of, read_row
from ecom_rlve.catalog.sources import DropReason, SourceReport, open_catalog, row_source

AMAZON = "amazon2023_meta_fashion_500.jsonl"
FEED = "google_merchant_groundies_us.xml"
MADE_UP_AMAZON = "made_up/amazon_fashion.jsonl"
MADE_UP_FEED = "made_up/merchant_feed.xml"

Find = Callable[[str], Path]

_MADE_UP = Path(__file__).parents[1]
_SHARED = Path(__file__).parents[3] / "../shared/data"


@pytest.fixture(scope="module")
def shared_file() -> Find:
    def find(name: str) -> Path:
        path = (_MADE_UP if name.startswith("made_up/") else _SHARED) / name
        if not path.exists():
            pytest.skip(f"REAL DATA MISSING: {path} is not there, so nothing real was read")
        return path

    return find


def products_of(source: str) -> list[Product]:
    readings = (read_row(row) for row in row_source(source).rows(0))
    return [reading.product for reading in readings if isinstance(reading, Reading)]


@pytest.mark.parametrize(
    ("name", "report"),
    [
        (MADE_UP_AMAZON, SourceReport(82, 80, {DropReason.DUPLICATE_LISTING: 1, DropReason.DUPLICATE_ID: 1})),
        (MADE_UP_FEED, SourceReport(37, 17, {DropReason.CONTINUATION: 20})),
        ("made_up/shopify_jewelry.csv", SourceReport(9, 6, {DropReason.CONTINUATION: 3})),
        (AMAZON, SourceReport(500, 500)),
        (FEED, SourceReport(2200, 83, {DropReason.CONTINUATION: 2117})),
        ("shopify/apparel.csv", SourceReport(22, 20, {DropReason.CONTINUATION: 2})),
        ("shopify/home-and-garden.csv", SourceReport(21, 20, {DropReason.CONTINUATION: 1})),
        ("shopify/jewelery.csv", SourceReport(41, 20, {DropReason.CONTINUATION: 21})),
    ],
)
def test_every_row_is_accounted_for(shared_file: Find, name: str, report: SourceReport) -> None:
    catalog, told = open_catalog(str(shared_file(name)), currency="USD")
    assert told == report
    assert catalog.size == report.kept
    rows = list(row_source(str(shared_file(name))).rows(0))
    assert len(rows) == report.read
    assert list(row_source(str(shared_file(name))).rows(17)) == rows[17:]


@pytest.fixture(scope="module", params=[MADE_UP_AMAZON, AMAZON])
def amazon(request: pytest.FixtureRequest, shared_file: Find) -> Path:
    """A file in the Amazon schema, of made-up rows or of real ones."""
    return shared_file(request.param)


@pytest.fixture(scope="module")
def hub_rows(amazon: Path) -> list[dict[str, Any]]:
    """The rows as the data hub has them: texts for prices and details, images as an object of lists."""
    return [_in_hub_shape(json.loads(line)) for line in amazon.read_text("utf-8").splitlines()]


def _in_hub_shape(row: dict[str, Any]) -> dict[str, Any]:
    images = {key: [image.get(key) for image in row["images"]] for key in ("hi_res", "large", "thumb", "variant")}
    videos = {key: [video.get(key) for video in row["videos"]] for key in ("title", "url", "user_id")}
    texts = {"details": json.dumps(row["details"]), "price": str(row["price"]), "subtitle": None, "author": None}
    return row | texts | {"images": images, "videos": videos}


def test_the_hub_s_shape_gives_the_same_products_through_every_door(
    amazon: Path, hub_rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    jsonl, parquet = tmp_path / "json/train.jsonl", tmp_path / "parquet/train-00000-of-00002.parquet"
    jsonl.parent.mkdir()
    parquet.parent.mkdir()
    jsonl.write_text("".join(f"{json.dumps(row)}\n" for row in hub_rows), "utf-8")
    schema = pa.Table.from_pylist(hub_rows).schema
    schema = schema.set(schema.get_field_index("categories"), pa.field("categories", pa.list_(pa.string())))
    for at, part in enumerate((hub_rows[:44], hub_rows[44:])):
        path = parquet.with_name(f"train-{at:05}-of-00002.parquet")
        pq.write_table(pa.Table.from_pylist(part, schema), path, row_group_size=20)

    original = str(amazon)
    expected, catalog = products_of(original), open_catalog(original)[0]
    for source in (str(jsonl), str(parquet.parent), f"hf:{jsonl.parent}", f"hf:{parquet.parent}:train"):
        assert products_of(source) == expected, source
        assert open_catalog(source)[0].fingerprint == catalog.fingerprint, source


def test_every_value_that_is_read_says_from_where(amazon: Path) -> None:
    products = products_of(str(amazon))
    assert sum(len(product.attributes) for product in products) >= len(products)
    for product in products:
        price = set() if product.price_cents is None else {"price"}
        read = {*price, *product.attributes, *(["brand"] if product.brand else [])}
        assert read <= product.provenance.keys() <= read | {"category"}
        assert all(len(text.partition(": ")[2]) <= 80 for text in product.provenance.values())


@pytest.mark.parametrize("name", [MADE_UP_FEED, FEED])
def test_a_feed_that_says_only_in_descriptions_what_it_sells_has_no_kinds(shared_file: Find, name: str) -> None:
    catalog, _ = open_catalog(str(shared_file(name)))
    assert [(category.name, category.is_kind) for category in catalog.categories] == [(UNKNOWN_KIND, False)]


@pytest.mark.parametrize("name", [MADE_UP_AMAZON, AMAZON])
def test_most_titles_of_fashion_name_a_kind(shared_file: Find, name: str) -> None:
    catalog, _ = open_catalog(str(shared_file(name)))
    unknown = len(catalog.rows_of_category(UNKNOWN_KIND)) if UNKNOWN_KIND in catalog.category_index else 0
    assert unknown <= 0.25 * catalog.size


@pytest.mark.parametrize(("name", "count"), [(MADE_UP_FEED, 17), (FEED, 83)])
def test_a_merchant_feed_keeps_prices_currency_and_text(shared_file: Find, name: str, count: int) -> None:
    products = products_of(str(shared_file(name)))
    assert Counter(product.currency for product in products) == {"USD": count}
    assert all(product.price_cents for product in products), "a size that costs 0.00 USD has no price, its product has"
    assert not any("\\'" in product.description or "  " in product.description for product in products)


def test_sizes_without_a_group_of_their_own_are_variants(shared_file: Find) -> None:
    products = [product for product in products_of(str(shared_file(FEED))) if product.variants]
    assert len(products) > 70
    assert {name for product in products for variant in product.variants for name in variant.values} == {"size"}


@pytest.mark.parametrize(
    ("name", "leaves", "departments"),
    [
        ("made_up/shopify_jewelry.csv", "bracelets earrings necklaces", "Jewelry"),
        (
            "shopify/apparel.csv",
            "bags blouses jackets shirts skirts sneakers sweaters t-shirts tops tuxedos",
            "Bags Clothing Shoes",
        ),
        (
            "shopify/home-and-garden.csv",
            "armchairs bean-bag-chairs bedding-sets bedside-tables candles chests-of-drawers fence-panels lights "
            "plant-pots pots sofas tables throw-pillows trowels watering-cans",
            "Furniture Garden Home Kitchen",
        ),
        ("shopify/jewelery.csv", "bracelets earrings necklaces", "Jewelry"),
    ],
)
def test_shopify_exports_have_leaves_that_people_say(
    shared_file: Find, name: str, leaves: str, departments: str
) -> None:
    catalog, _ = open_catalog(str(shared_file(name)), currency="USD")
    found = [category.name.replace(" ", "-") for category in catalog.categories if category.name != "t-shirts"]
    assert sorted(found) == [leaf for leaf in leaves.split() if leaf != "t-shirts"]
    assert sorted({category.department for category in catalog.categories}) == departments.split()


@pytest.mark.parametrize(
    ("name", "many", "prices", "earrings", "plain", "brands"),
    [
        (
            "made_up/shopify_jewelry.csv",
            "made-anchor-bracelet",
            (4800, True, 6150),
            "made-moon-earrings",
            "made-chain-necklace",
            {"Norvella", "Tumblewick"},
        ),
        (
            "shopify/jewelery.csv",
            "leather-anchor",
            (5500, True, 6999),
            "boho-earrings",
            "chain-bracelet",
            {"Company 123", "Sterling Ltd"},
        ),
    ],
)
def test_shopify_variants_become_one_product(
    shared_file: Find, name: str, many: str, prices: tuple[int, bool, int], earrings: str, plain: str, brands: set[str]
) -> None:
    products = {product.id: product for product in products_of(str(shared_file(name)))}
    anchor = products[many]
    assert (anchor.price_cents, anchor.price_is_floor, anchor.price_high_cents) == prices
    assert "color" not in anchor.attributes
    assert products[earrings].attributes["weight"] == 28.0
    assert products[plain].price_is_floor is False
    assert {product.brand for product in products.values()} == brands
    assert not any("<" in text for p in products.values() for text in (p.description, *p.features))


@pytest.mark.parametrize("name", [MADE_UP_FEED, FEED])
def test_a_catalog_of_real_rows_does_not_depend_on_how_they_come(shared_file: Find, name: str) -> None:
    rows = list(row_source(str(shared_file(name))).rows(0))
    catalog, report = catalog_of(iter(rows))
    opened, same_report = open_catalog(str(shared_file(name)))
    assert (catalog.fingerprint, report) == (opened.fingerprint, same_report)
