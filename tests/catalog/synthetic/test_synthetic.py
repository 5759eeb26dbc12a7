"""The procedural catalog: reproducible, true to its facts, silent on variants, and every product can be singled out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from ecom_rlve.catalog.attributes import ATTRIBUTES, DISCRETE, NUMERIC
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.derived import ship_days_and_stock
from ecom_rlve.catalog.errors import CatalogError, UnknownAttributeError
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.catalog.shop_words.variant_values import variant_values
from ecom_rlve.catalog.synthetic.departments import Kind, departments
from ecom_rlve.catalog.synthetic.facts import draw_facts
from ecom_rlve.catalog.synthetic.shelf import synthetic_catalog
from ecom_rlve.catalog.synthetic.text import phrases
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.streams import Streams

GOLDEN_200 = "e982dc119b3b6152d73cb6e0e11e5d68"
GOLDEN_SHELF = (1, 7)
KINDS = [kind for group in departments() for kind in group]
WORD = re.compile(r"[a-z0-9.]+")


@pytest.fixture(scope="module")
def catalog(big_shop: Shop) -> Catalog:
    return big_shop.catalog


@pytest.fixture(scope="module")
def products(catalog: Catalog) -> list[Product]:
    return [catalog.product(row) for row in range(catalog.size)]


def words(text: str) -> str:
    """Return the words of a text, each between spaces, so that ``in`` finds whole phrases."""
    return f" {' '.join(word.strip('.') for word in WORD.findall(text.casefold()))} "


def text_of(product: Product) -> str:
    return " / ".join((product.title, product.description, *product.features))


def phrases_in(text: str, values: Iterator[str]) -> set[str]:
    spoken = words(text)
    return {value for value in values if words(value) in spoken}


def discrete_values() -> dict[str, set[str]]:
    """Return every value of every discrete attribute but the model, from the kinds and from the pools."""
    values: dict[str, set[str]] = {name: set() for name in DISCRETE if name != "model"}
    for kind in KINDS:
        for name, weights in kind.discrete.items():
            values[name].update(weights)
        for name in values:
            values[name].update(map(str, variant_values(kind.category, name)))
    return values


def shop_copy(kind: Kind) -> list[str]:
    copy = kind.shop_copy
    written = (*copy.titles, *copy.openings, *copy.closings, *copy.bullets, *copy.uses)
    return [re.sub(r"\{\w+\}", " ", text) for text in written]


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_other_processes_make_the_same_catalog(hash_seed: str) -> None:
    code = "from ecom_rlve.catalog.synthetic.shelf import synthetic_catalog as make; print(make(200).fingerprint)"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == GOLDEN_200


def test_seed_and_size_matter() -> None:
    assert synthetic_catalog(200).fingerprint == GOLDEN_200
    assert len({synthetic_catalog(size, seed).fingerprint for size in (200, 201) for seed in (0, 1)}) == 4


def test_catalogs_of_two_seeds_share_no_product() -> None:
    """So agents can be judged on products that were in no training episode."""
    one, other = (synthetic_catalog(2000, seed) for seed in (0, 1))
    assert not set(one.ids) & set(other.ids)


def test_too_small_a_catalog_is_refused() -> None:
    with pytest.raises(CatalogError, match="at least 40 products, not 39"):
        synthetic_catalog(39)


@settings(max_examples=settings().max_examples // 4)
@given(size=st.integers(40, 700), seed=st.integers(0, 2**63 - 1))
def test_every_size_fills_its_categories(size: int, seed: int) -> None:
    catalog = synthetic_catalog(size, seed)
    counts = [len(catalog.rows_of_category(category.name)) for category in catalog.categories]
    assert catalog.size == sum(counts) == size
    assert len(counts) == min(len(KINDS), max(5, size // 8))
    assert min(counts) >= 6


def test_a_small_catalog_cuts_across_departments() -> None:
    assert len({category.department for category in synthetic_catalog(40).categories}) == 5


def test_default_catalog_has_uneven_categories_of_every_department(catalog: Catalog) -> None:
    counts = [len(catalog.rows_of_category(category.name)) for category in catalog.categories]
    assert len(catalog.categories) == len(KINDS)
    assert {category.department for category in catalog.categories} == {kind.category.department for kind in KINDS}
    assert max(counts) > 3 * min(counts)


def test_neighbouring_rows_are_not_of_one_category(catalog: Catalog) -> None:
    codes = catalog.category_codes
    assert np.mean(codes[1:] == codes[:-1]) < 0.05


def test_ids_are_no_sequence(products: list[Product]) -> None:
    ids = [product.id for product in products]
    assert all(re.fullmatch(r"[0-9A-Z]{10}", product_id) for product_id in ids)
    assert len({product_id[:5] for product_id in ids}) > 0.99 * len(ids)
    assert ids != sorted(ids)


def test_no_text_names_the_variant_attribute(catalog: Catalog, products: list[Product]) -> None:
    categories = {category.name: category for category in catalog.categories}
    assert len(products) == catalog.size
    for product in products:
        category = categories[product.category]
        pool = variant_values(category, category.variant_attribute)
        assert product.attributes[category.variant_attribute] in pool
        spelled = (value if isinstance(value, str) else f"{value:g}" for value in pool)
        assert not phrases_in(text_of(product), spelled), text_of(product)


def test_texts_state_only_what_is_true(products: list[Product]) -> None:
    values = {words(value) for known in discrete_values().values() for value in known}
    assert len(products) >= 2000
    for product in products[:2000]:
        own = {words(value) for value in product.attributes.values() if isinstance(value, str)}
        text = words(text_of(product))
        assert {value for value in values if value in text} <= own, text


def test_texts_say_something_of_the_product(products: list[Product]) -> None:
    assert products
    for product in products:
        text = words(text_of(product))
        assert words(str(product.attributes["model"])) in text
        assert product.brand is None or words(product.brand) in text
        others = (value for name, value in product.attributes.items() if name != "model" and isinstance(value, str))
        assert len(phrases_in(text, others)) >= 2, text_of(product)


def test_texts_are_well_formed(products: list[Product]) -> None:
    assert products
    for product in products:
        assert 40 <= len(product.title) <= 140
        assert 1 <= len(re.findall(r"\.(?: |$)", product.description)) <= 3
        assert 2 <= len(product.features) <= 5
        for text in (product.title, product.description, *product.features):
            assert not re.search(r"[{}]|None|  |^[ ,]|[ ,]$", text), text
            assert text[0].isupper() or text[0].isdigit()


def test_titles_vary(products: list[Product]) -> None:
    titles = Counter(product.title for product in products)
    assert len(titles) > 0.85 * len(products)


def test_every_product_can_be_singled_out_by_what_is_known_of_it(catalog: Catalog, products: list[Product]) -> None:
    assert len(products) == catalog.size
    for category in catalog.categories:
        rows = [products[row] for row in catalog.rows_of_category(category.name)]
        names = sorted({name for product in rows for name in product.attributes} - {category.variant_attribute})
        facts = [
            (
                product.brand,
                None if product.price_is_floor else product.price_cents,
                *(product.attributes.get(name) for name in names),
            )
            for product in rows
        ]
        for unknown in {tuple(value is None for value in fact) for fact in facts}:
            known = [tuple(value for value, gap in zip(fact, unknown, strict=True) if not gap) for fact in facts]
            alike = Counter(known)
            for fact, part in zip(facts, known, strict=True):
                assert alike[part] == 1 or tuple(value is None for value in fact) != unknown, fact


@pytest.mark.parametrize("kind", KINDS[::13], ids=lambda kind: kind.category.name)
def test_a_fifth_are_lookalikes_that_differ_in_one_fact(kind: Kind) -> None:
    facts = draw_facts(kind, 500, Streams("test"))
    copies = np.flatnonzero(facts.looks_like != np.arange(500))
    differences = (facts.table[copies] != facts.table[facts.looks_like[copies]]).sum(axis=1)
    assert len(copies) == 100
    assert (differences == 1).all()
    assert len(np.unique(facts.table, axis=0)) == 500


def test_a_few_products_have_gaps(products: list[Product]) -> None:
    def share(count: int) -> float:
        return count / len(products)

    expected = {kind.category.name: len(kind.discrete) + len(kind.numeric) + 2 for kind in KINDS}
    assert 0.01 < share(sum(product.price_cents is None for product in products)) < 0.05
    assert 0.01 < share(sum(product.brand is None for product in products)) < 0.05
    assert 0.01 < share(sum(product.price_is_floor for product in products)) < 0.05
    assert 0.01 < share(sum(len(product.attributes) < expected[product.category] for product in products)) < 0.05


def test_values_lie_where_they_should(catalog: Catalog, products: list[Product]) -> None:
    spreads = {kind.category.name: kind.numeric for kind in KINDS}
    for product in products:
        assert product.price_cents is None or product.price_cents >= 100
        assert product.rating is not None
        assert 3.1 <= product.rating <= 4.9
        assert product.rating_count >= 1
        for name, spread in spreads[product.category].items():
            assert spread.low <= float(product.attributes.get(name, spread.low)) <= spread.high
    counts = catalog.rating_count
    assert np.mean(counts) > 2 * np.median(counts)


def test_shipping_and_stock_come_from_the_id(products: list[Product]) -> None:
    for product in products:
        assert (product.ship_days, product.stock) == ship_days_and_stock(product.id)
        assert 1 <= product.ship_days <= 10
        assert 0 <= product.stock <= 60
    assert {product.ship_days for product in products} == set(range(1, 11))
    assert {product.stock for product in products} == set(range(61))
    assert 0.03 < np.mean([product.stock == 0 for product in products]) < 0.05
    assert ship_days_and_stock("B00EXAMPLE") == GOLDEN_SHELF


def test_categories_are_complete() -> None:
    assert 60 <= len(KINDS) <= 70
    assert len({kind.category.name for kind in KINDS}) == len(KINDS)
    for kind in KINDS:
        category = kind.category
        assert len(category.path) == 3
        assert category.name == category.name.casefold()
        assert category.singular != category.plural
        assert category.variant_attribute in ATTRIBUTES
        assert category.variant_attribute not in {*kind.discrete, *kind.numeric, "model"}
        assert len(kind.discrete) >= 3
        assert 1 <= len(kind.numeric) <= 3
        assert all(4 <= len(weights) <= 14 for weights in kind.discrete.values())
        assert set(kind.discrete) <= set(DISCRETE)
        assert set(kind.numeric) <= set(NUMERIC)
        assert any(phrases(name, next(iter(weights))).lead for name, weights in kind.discrete.items())


def test_a_value_belongs_to_one_attribute_and_stands_in_no_other_value() -> None:
    owners = [(words(value), name) for name, known in discrete_values().items() for value in known]
    assert len({value for value, _ in owners}) == len(owners)
    assert [(one, other) for one, _ in owners for other, _ in owners if one != other and one in other] == []


def test_names_and_copy_state_no_value() -> None:
    values = [words(value) for known in discrete_values().values() for value in known]
    assert len(KINDS) >= 60
    for kind in KINDS:
        category = kind.category
        for text in map(words, (category.name, category.singular, category.plural, kind.noun, *shop_copy(kind))):
            assert [value for value in values if value in text] == [], text
            assert not re.search(r"\d", text)


def test_brands_and_models_cannot_be_confused() -> None:
    taken = {word for known in discrete_values().values() for value in known for word in words(value).split()}
    taken |= {word for kind in KINDS for word in words(f"{kind.category.singular} {kind.category.plural}").split()}
    assert len(departments()) >= 10
    for group in departments():
        brands = group[0].brands
        assert 12 <= len(brands) <= 20
        names = [brand.name for brand in brands] + [model for brand in brands for model in brand.models]
        assert all(len(brand.name) >= 5 and len(brand.models) >= 2 for brand in brands)
        assert taken.isdisjoint(word for name in names for word in words(name).split())
        close = [pair for pair in combinations(names, 2) if fuzz.ratio(pair[0].casefold(), pair[1].casefold()) >= 80]
        assert close == []


def test_brand_names_are_unique_over_departments() -> None:
    brands = [brand.name.casefold() for group in departments() for brand in group[0].brands]
    assert len(set(brands)) == len(brands)


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_pools_hold_nine_values_for_any_category(attribute: str) -> None:
    foreign = Category("gizmos", ("Elsewhere", "Gizmos"), "gizmo", "gizmos", attribute)
    for category in (foreign, *(kind.category for kind in KINDS)):
        values = variant_values(category, attribute)
        assert len(set(values)) == len(values) >= 9
        expected = str if ATTRIBUTES[attribute].kind == "discrete" else float
        assert all(isinstance(value, expected) for value in values)
        assert all(value == value.casefold() for value in values if isinstance(value, str))


@pytest.mark.parametrize(
    ("name", "path", "attribute", "value"),
    [
        ("women's boots", ("Clothing, Shoes & Jewelry", "Women", "Boots"), "size", "eu 39"),
        ("sandals", ("Apparel", "Footwear", "Sandals"), "size", "eu 39"),
        ("tunics", ("Clothing, Shoes & Jewelry", "Tunics"), "size", "large"),
        ("tunics", ("Apparel & Accessories", "Tunics"), "size", "large"),
        ("computer monitors", ("Electronics", "Computers", "Monitors"), "connector_type", "vga"),
        ("usb chargers", ("Electronics", "Power", "USB Chargers"), "wattage", 100.0),
        ("woks", ("Home & Kitchen", "Woks"), "material", "cast iron"),
        ("gizmos", ("Elsewhere",), "color", "black"),
    ],
)
def test_the_words_of_a_category_pick_the_pool(name: str, path: tuple[str, ...], attribute: str, value: object) -> None:
    assert value in variant_values(Category(name, path, name, name, attribute), attribute)


def test_an_unknown_attribute_has_no_pool() -> None:
    with pytest.raises(UnknownAttributeError, match="no values for 'colour'"):
        variant_values(KINDS[0].category, "colour")
