"""What is known of a customer's orders."""

from __future__ import annotations

import pytest

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.expert.orders import OrderHistory


def listing(*categories: str) -> OrderHistory:
    history = OrderHistory()
    history.take("order_list", {"orders": [{"order_id": "O1", "categories": list(categories)}], "total_orders": 1})
    return history


def test_pages_are_listed_until_all_orders_are_known() -> None:
    history, order = OrderHistory(), {"order_id": "O1", "categories": []}
    assert history.next_page() == {"name": "order_list", "args": {"limit": 50}}
    history.take("order_list", {"orders": [order] * 50, "total_orders": 52})
    assert history.next_page() == {"name": "order_list", "args": {"limit": 50, "offset": 50}}
    history.take("order_list", {"orders": [order] * 2, "total_orders": 52})
    history.take("order_get", None)
    assert history.next_page() is None
    assert not history.read


def test_every_kind_of_thing_is_known_by_its_noun(wide_shop: Shop) -> None:
    categories = wide_shop.catalog.categories
    history = listing(*(category.name for category in categories))
    assert len(categories) >= 50
    assert all(history.category_of(category.singular) == category.name for category in categories)


@pytest.mark.parametrize(
    ("noun", "category"), [("pair of tights", "tights and stockings"), ("scarf", "scarves"), ("dress", "dresses")]
)
def test_categories_of_real_shops_are_known_too(noun: str, category: str) -> None:
    assert listing("lighters", "dress shoes", "scarf rings", category).category_of(noun) == category
