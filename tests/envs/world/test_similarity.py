"""Gower similarity: the mean over what a product has, exact, and computable from what cards and facets show."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.catalog.search.search import Search
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.similarity import MILLION, gower, measures_of

LAMPS = Category("lamps", ("Home", "Lamps"), "lamp", "lamps", "color")
CHAIRS = Category("chairs", ("Home", "Chairs"), "chair", "chairs", "color")


def lamp(number: int, price: int | None, *, is_floor: bool = False, **attributes: Any) -> Product:
    return Product(
        f"L{number}", f"Lamp {number}", "lamps", price_cents=price, price_is_floor=is_floor, attributes=attributes
    )


@pytest.fixture(scope="module")
def tiny() -> Shop:
    """Return five lamps, of which the first is compared with the others, and a chair."""
    catalog = Catalog.from_products(
        [
            lamp(0, 1000, material="oak", style="retro", weight=100.0, color="red"),
            lamp(1, 1000, material="oak", style="retro", weight=100.0, color="blue"),
            lamp(2, 3000, material="pine", style="retro", weight=300.0, color="red"),
            lamp(3, 2000, material="oak", weight=200.5),
            lamp(4, 2000, is_floor=True, style="retro"),
            Product("C0", "Chair", "chairs", price_cents=1, attributes={"weight": 9000.0, "pattern": "plain"}),
        ],
        [LAMPS, CHAIRS],
    )
    return Shop(catalog, Search.build(catalog))


def test_by_hand(tiny: Shop) -> None:
    rows = np.arange(5, dtype=np.int32)
    half, third = MILLION // 2, (300_000 - 100_000 - 100_500) * MILLION // 200_000
    assert gower(tiny, 0, rows).tolist() == [4 * MILLION, 4 * MILLION, MILLION, MILLION + half + third, MILLION]


def test_the_variant_attribute_and_other_categories_do_not_count(tiny: Shop) -> None:
    measures = measures_of(tiny, "lamps")
    assert measures.words == ("material", "style")
    assert measures.ranges == {"price": (1000, 3000), "weight": (100_000, 300_000)}
    assert measures.shown() == {
        "attributes": ["material", "style"],
        "ranges": {"price": [10.0, 30.0], "weight": [100.0, 300.0]},
    }


def test_what_the_compared_product_lacks_does_not_count(tiny: Shop) -> None:
    assert gower(tiny, 4, np.array([0, 1, 3], dtype=np.int32)).tolist() == [MILLION, MILLION, 0]


def test_two_products_that_lack_the_same_are_no_more_alike_for_it(tiny: Shop) -> None:
    """Unknown is not equal to unknown: neither a word, nor a number, nor a price."""
    assert gower(tiny, 4, np.array([4], dtype=np.int32)).tolist() == [MILLION], "the style; nothing else is known"
    assert gower(tiny, 3, np.array([3], dtype=np.int32)).tolist() == [3 * MILLION], "price, material and weight"
    catalog = Catalog.from_products(
        [lamp(0, 1000, style="retro"), lamp(1, 1000, style="retro"), lamp(2, None, material="oak", weight=5.0)], [LAMPS]
    )
    shop = Shop(catalog, Search.build(catalog))
    assert gower(shop, 0, np.array([0, 1, 2], dtype=np.int32)).tolist() == [2 * MILLION, 2 * MILLION, 0]
    assert gower(shop, 2, np.array([0, 1, 2], dtype=np.int32)).tolist() == [0, 0, 2 * MILLION]


@pytest.fixture(scope="module")
def shop(wide_shop: Shop) -> Shop:
    return wide_shop


def test_equal_to_a_computation_from_cards_and_facets(shop: Shop) -> None:
    compared = 0
    for category in shop.catalog.categories[:30]:
        rows = shop.catalog.rows_of_category(category.name)
        facets = json.loads(json.dumps(measures_of(shop, category.name).shown()))
        cards = [dict(shop.full_card(row)) for row in rows.tolist()]
        place = next(at for at, card in enumerate(cards) if "more" not in card)
        original = int(rows[place])
        names = [name for name in (*facets["attributes"], *facets["ranges"]) if _known(shop, original, name)]
        exact = gower(shop, original, rows)
        for card, row, similarity in zip(cards, rows.tolist(), exact.tolist(), strict=True):
            if any(name not in card and _known(shop, row, name) for name in names):
                continue
            mean = sum(_alike(cards[place], card, name, facets["ranges"].get(name)) for name in names) / len(names)
            assert similarity / len(names) / MILLION == pytest.approx(mean, abs=2e-6)
            compared += 1
    assert compared > 500


def _known(shop: Shop, row: int, name: str) -> bool:
    floors = shop.catalog.column("price").is_floor
    return shop.catalog.value(row, name) is not None and not (name == "price" and floors is not None and floors[row])


def _alike(original: dict[str, Any], card: dict[str, Any], name: str, bounds: list[float] | None) -> float:
    if name not in card:
        return 0.0
    if bounds is None:
        return float(original[name] == card[name])
    return 1 - abs(original[name] - card[name]) / (bounds[1] - bounds[0]) if bounds[1] > bounds[0] else 1.0


def test_facets_are_small_and_full_cards_show_nearly_everything(shop: Shop) -> None:
    assert all(len(json.dumps(measures_of(shop, category.name).shown())) <= 600 for category in shop.catalog.categories)
    hidden = shown = 0
    for row in range(shop.catalog.size):
        card, category = shop.full_card(row), shop.catalog.category_of(row)
        assert len(json.dumps({**card, "in_stock": False}, ensure_ascii=False, separators=(",", ":")).encode()) <= 350
        assert category.variant_attribute not in card
        names = shop.catalog.product(row).attributes.keys() - {category.variant_attribute}
        shown += len(names & card.keys())
        hidden += len(names - card.keys())
    assert hidden < 0.01 * shown
