"""Splits: disjoint by title, and large enough in a small shop too."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.splits import SMALL, SPLITS, dealt, split_of
from ecom_rlve.envs.world.shop import Shop

PRODUCTS = st.lists(st.tuples(st.sampled_from(["mugs", "jars", "bowls"]), st.text(max_size=6)))


@given(PRODUCTS)
def test_a_small_shops_splits_are_of_one_size(products: list[tuple[str, str]]) -> None:
    splits = {" ".join(title.casefold().split()): split for title, split in dealt(products).items()}
    sizes = Counter(splits.values())
    assert max(sizes[split] for split in SPLITS) - min(sizes[split] for split in SPLITS) <= 1


@given(PRODUCTS)
def test_splits_depend_neither_on_the_order_nor_on_spelling(products: list[tuple[str, str]]) -> None:
    splits = dealt(products)
    assert dealt(reversed(products)) == splits
    spaced = dealt([(kind, f"  {title}\t") for kind, title in products])
    assert {title.strip(): split for title, split in spaced.items()} == {
        title.strip(): split for title, split in splits.items()
    }


def test_every_split_has_a_share_of_every_kind() -> None:
    products = [(kind, f"{kind} {number}") for kind in ("jars", "mugs") for number in range(6)]
    splits = dealt(products)
    counts = Counter((kind, splits[title]) for kind, title in products)
    assert set(counts.values()) == {2}
    assert len(counts) == 6


def test_a_larger_shop_splits_by_title_alone() -> None:
    shop = Shop.open(f"synthetic:{SMALL}:0")
    assert [shop.split(row) for row in range(SMALL)] == [split_of(title) for title in shop.catalog.titles]


def test_a_shop_of_forty_products_serves_every_split_or_says_that_it_does_not() -> None:
    shop = Shop.open("synthetic:40:0")
    served = [env_id for env_id, each in environments().items() if each.max_difficulty(shop) >= 0]
    assert {"CART", "POLICY", "RETURN", "STATUS"} <= set(served)
    assert {shop.split(row) for row in range(40)} == set(SPLITS)
