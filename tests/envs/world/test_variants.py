"""Variants in episodes: a shop's own come first, with their prices and what there is of them."""

from __future__ import annotations

from typing import Any

import pytest

from ecom_rlve.catalog.rows.row import catalog_of
from ecom_rlve.catalog.search.search import Search
from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.errors import DomainError
from ecom_rlve.envs.policy.book import draw_policy_book
from ecom_rlve.envs.policy.money import StoreMoney
from ecom_rlve.envs.tools.cart import CART_ADD, CART_VIEW
from ecom_rlve.envs.tools.catalog import CATALOG_GET_VARIANTS
from ecom_rlve.envs.tools.tool import Tool
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.variants import are_named
from ecom_rlve.envs.world.world import World
from ecom_rlve.streams import Streams


def world_of(variants: list[dict[str, Any]], **fields: Any) -> World:
    """Return a world whose first product has variants."""
    rows: list[dict[str, Any]] = [
        {"parent_asin": f"P{at}", "title": f"Mug {at}", "price": "5.00", "categories": ["Home", "Mugs"]}
        for at in range(9)
    ]
    rows[0] |= {"variants": variants, **fields}
    catalog, _ = catalog_of(rows, currency=fields.get("currency"))
    return World(Shop(catalog, Search.build(catalog)), axes_of(0), Streams("test", 1))


def run(world: World, tool: Tool[Any], **args: Any) -> dict[str, Any]:
    return tool.run(world, tool.args.model_validate(args))


def stated(color: str, price: str = "5.00", stock: int | None = None, **options: str) -> dict[str, Any]:
    return {"options": {"Color": color, **options}, "price": price, "stock": stock}


def test_three_of_its_own_are_a_products_only_variants() -> None:
    world = world_of(
        [stated("Red", "5.00", 9), stated("Blue", "6.00", 9), stated("Green", "7.00", 0)], price="5.00 - 7.00"
    )
    assert {(each.value, each.price_cents, each.stock) for each in world.variants(0)} == {
        ("red", 500, 9),
        ("blue", 600, 9),
        ("green", 700, 0),
    }
    (green,) = (each for each in world.variants(0) if each.value == "green")
    assert not world.in_stock(0, green)
    assert len(world.variants(1)) >= 6, "what its shop says nothing of is made up"


def test_two_of_its_own_stand_among_others() -> None:
    world = world_of([stated("Red", stock=2), stated("Blue")])
    own = {each.value: each.stock for each in world.variants(0)}
    assert len(own) >= 6
    assert (own["red"], own["blue"]) == (2, None)
    assert all(each.price_cents is None for each in world.variants(0)), "all have the price of the product"


def test_sizes_in_two_colours_are_offered_by_size() -> None:
    grid = [stated(color, stock=stock, Size=size) for color, stock in (("Red", 1), ("Blue", 9)) for size in "SML"]
    world = world_of(grid)
    assert {(each.attribute, each.value, each.stock) for each in world.variants(0)} == {
        ("size", size, 9) for size in ("small", "medium", "large")
    }


def test_many_are_cut_and_one_of_them_is_plentiful() -> None:
    world = world_of([stated("", stock=at % 19, Size=f"{at} cm") for at in range(1, 40)])
    assert len(world.variants(0)) == 8
    assert any(each.is_plentiful for each in world.variants(0))


def test_tools_show_and_reckon_with_a_variants_own_price_and_stock() -> None:
    world = world_of(
        [stated("Red", "5.00", 0), stated("Blue", "6.00", 9), stated("Green", "7.00", 9)], price="5.00 - 7.00"
    )
    assert world.stock(0), "the product should be in stock"
    shown = run(world, CATALOG_GET_VARIANTS, product_id="P0")["variants"]
    by_color = {each["color"]: each for each in shown}
    assert (by_color["blue"]["price"], by_color["red"]["in_stock"]) == (6.0, False)
    with pytest.raises(DomainError, match="this variant is sold out"):
        run(world, CART_ADD, product_id="P0", variant_id=by_color["red"]["variant_id"])
    run(world, CART_ADD, product_id="P0", variant_id=by_color["green"]["variant_id"])
    view = run(world, CART_VIEW)
    assert (view["subtotal"], view["lines"][0]["price"]) == (7.0, 7.0)
    assert "price_from" not in view["lines"][0]


def test_a_letter_after_an_apostrophe_is_no_size() -> None:
    world = world_of([stated("", Style=style) for style in "SML"])
    assert are_named("it's sold out", world.variants(0)) == []
    assert [each.value for each in are_named("style s is sold out", world.variants(0))] == ["s"]


def test_a_currency_reaches_cards_cart_and_policies() -> None:
    world = world_of([], currency="VND", price="1250000")
    assert (world.card(0)["price"], world.card(0)["currency"]) == (1250000.0, "VND")
    assert run(world, CART_VIEW)["currency"] == "VND"
    book = draw_policy_book(Streams("book", 1), ("Home",), money=StoreMoney("VND"))
    texts = " ".join(section.text for section in book.sections)
    assert "₫" in texts
    assert "$" not in texts
    assert "$" in " ".join(section.text for section in draw_policy_book(Streams("book", 1), ("Home",)).sections)
