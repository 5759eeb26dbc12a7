"""Looking at one product in full, and putting products that were shown into another order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.errors import DomainError
from ecom_rlve.envs.tools.catalog import CATALOG_SEARCH, SearchArgs
from ecom_rlve.envs.tools.products import CATALOG_GET_PRODUCT, CATALOG_RERANK, ProductArgs, RerankArgs
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import DomainCode
from ecom_rlve.streams import Streams


@pytest.fixture
def world(shop: Shop) -> World:
    return World(shop, axes_of(0), Streams("products"))


def search(world: World, query: str, **args: Any) -> dict[str, object]:
    return CATALOG_SEARCH.run(world, SearchArgs(query=query, limit=10, **args))


def test_a_product_in_full(world: World) -> None:
    for row in range(0, 400, 9):
        product = world.shop.catalog.product(row)
        shown = CATALOG_GET_PRODUCT.run(world, ProductArgs(product_id=product.id))["product"]
        variant = world.shop.catalog.category_of(row).variant_attribute
        assert variant not in shown
        for name, value in product.attributes.items():
            assert name == variant or shown[name] == value
        assert (shown["title"], shown["in_stock"]) == (product.title, product.stock > 0)
        assert len(json.dumps(shown)) < 3000


def test_a_product_looked_up_by_its_id_was_not_shown(world: World) -> None:
    CATALOG_GET_PRODUCT.run(world, ProductArgs(product_id=world.shop.catalog.ids[0]))
    assert not world.shown_ids()


def test_a_look_shows_a_stock_out(world: World) -> None:
    row = next(row for row in range(400) if world.stock(row) > 0)
    world.sold_out.add(row)
    shown = CATALOG_GET_PRODUCT.run(world, ProductArgs(product_id=world.shop.catalog.ids[row]))["product"]
    assert shown["in_stock"] is False
    assert row in world.stockouts_seen


def test_unknown_product(world: World) -> None:
    with pytest.raises(DomainError) as refusal:
        CATALOG_GET_PRODUCT.run(world, ProductArgs(product_id="nothing"))
    assert refusal.value.code is DomainCode.UNKNOWN_PRODUCT


def test_rerank_orders_what_was_shown(world: World) -> None:
    ids = [card["product_id"] for card in search(world, "lamp")["results"]]  # type: ignore[attr-defined]  # JSON has no types
    title = world.shop.catalog.titles[world.row_of(ids[-1])]
    ordered = CATALOG_RERANK.run(world, RerankArgs(query=title, product_ids=[*ids, ids[0]]))["product_ids"]
    assert sorted(ordered) == sorted(ids)
    assert ordered[0] == ids[-1]
    again = CATALOG_RERANK.run(world, RerankArgs(query=title, product_ids=ids[::-1]))["product_ids"]
    assert again == ordered


def test_rerank_refuses(world: World) -> None:
    ids = world.shop.catalog.ids
    for args, code in (
        (RerankArgs(query="lamp", product_ids=[ids[0]]), DomainCode.NOT_SHOWN),
        (RerankArgs(query="lamp", product_ids=["nothing"]), DomainCode.UNKNOWN_PRODUCT),
        (RerankArgs(query="  ", product_ids=[]), DomainCode.EMPTY_QUERY),
    ):
        with pytest.raises(DomainError) as refusal:
            CATALOG_RERANK.run(world, args)
        assert refusal.value.code is code
    assert CATALOG_RERANK.run(world, RerankArgs(query="lamp", product_ids=[]))["product_ids"] == []


def test_facets_only_with_a_category_and_where_wanted(world: World) -> None:
    category = world.shop.catalog.categories[0].name
    assert "facets" not in search(world, "lamp", category=category)
    world.wants_facets = True
    assert "facets" not in search(world, "lamp")
    facets = search(world, "lamp", category=category.upper())["facets"]
    assert set(facets) == {"attributes", "ranges"}  # type: ignore[call-overload]  # JSON has no types


def test_full_cards_only_where_wanted(world: World) -> None:
    row = 0
    assert world.card(row) == {**world.shop.card(row), "in_stock": world.stock(row) > 0}
    world.full_cards = True
    assert world.card(row) == {**world.shop.full_card(row), "in_stock": world.stock(row) > 0}
