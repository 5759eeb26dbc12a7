"""How small a shop may be: targets in every split, no bet on one kind, and draws that come off."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from ecom_rlve.catalog.columns.row_set import RowSet
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.parts.small_shops import LEAST_TARGETS, highest_served
from ecom_rlve.envs.registry import environment
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import MAX_DIFFICULTY

ALL, HALF = Fraction(1), Fraction(1, 2)


@pytest.fixture(scope="module")
def small() -> Shop:
    return Shop.open("synthetic:300:0")


def chosen(shop: Shop, rows: list[int]) -> RowSet:
    return RowSet(np.isin(np.arange(shop.catalog.size), rows))


def of_split(shop: Shop, split: str) -> list[int]:
    return [row for row in range(shop.catalog.size) if shop.split(row) == split]


def test_targets_of_all_splits_and_many_kinds_serve_every_difficulty(small: Shop) -> None:
    everything = chosen(small, list(range(small.catalog.size)))
    assert highest_served(small, lambda _: everything, HALF, lambda *_: True) == MAX_DIFFICULTY


def test_the_highest_difficulty_is_found_where_targets_become_few(small: Shop) -> None:
    everything, none = chosen(small, list(range(small.catalog.size))), chosen(small, [])

    def targets(axes: Axes) -> RowSet:
        return everything if axes.d <= 7 else none

    assert highest_served(small, targets, HALF, lambda *_: True) == 7


@pytest.mark.parametrize("split", ["train", "eval", "test"])
def test_every_split_needs_targets_of_its_own(small: Shop, split: str) -> None:
    own = of_split(small, split)
    others = [row for row in range(small.catalog.size) if row not in own]
    different = list({small.catalog.titles[row]: row for row in own}.values())
    few = chosen(small, others + different[: LEAST_TARGETS - 1])
    enough = chosen(small, others + different[:LEAST_TARGETS])
    assert highest_served(small, lambda _: few, ALL, lambda *_: True) == -1
    assert highest_served(small, lambda _: enough, ALL, lambda *_: True) == MAX_DIFFICULTY


def test_a_bet_on_one_kind_must_not_pay(small: Shop) -> None:
    everything = chosen(small, list(range(small.catalog.size)))
    share = Fraction(int(small.kind_sizes.max()), small.catalog.size)
    assert highest_served(small, lambda _: everything, share, lambda *_: True) == MAX_DIFFICULTY
    assert highest_served(small, lambda _: everything, share - Fraction(1, 1000), lambda *_: True) == -1


def test_a_bet_on_one_kind_must_not_pay_in_any_split(small: Shop) -> None:
    """A tenth of a shop may be of one kind though the shop is of many."""
    own = of_split(small, "eval")
    kind = Counter(small.catalog.category_codes[own].tolist()).most_common(1)[0][0]
    alike = [row for row in own if small.catalog.category_codes[row] == kind]
    others = [row for row in own if row not in alike][: LEAST_TARGETS - 1]
    rest = of_split(small, "train") + of_split(small, "test")
    varied, bet = chosen(small, rest + alike + others), chosen(small, rest + alike + others[:2])
    assert highest_served(small, lambda _: varied, HALF, lambda *_: True) == MAX_DIFFICULTY
    assert highest_served(small, lambda _: bet, HALF, lambda *_: True) == -1
    assert highest_served(small, lambda _: bet, ALL, lambda *_: True) == MAX_DIFFICULTY


def test_copies_of_a_product_are_one_target() -> None:
    shop = Shop.open("synthetic:1500:0")
    titles = Counter(shop.catalog.titles[row] for row in of_split(shop, "eval"))
    title, copies = titles.most_common(1)[0]
    own = of_split(shop, "eval")
    same = [row for row in own if shop.catalog.titles[row] == title]
    others = [row for row in own if row not in same]
    rest = of_split(shop, "train") + of_split(shop, "test")
    assert copies > 1
    few = chosen(shop, rest + same + others[: LEAST_TARGETS - 2])
    enough = chosen(shop, rest + same + others[: LEAST_TARGETS - 1])
    assert highest_served(shop, lambda _: few, ALL, lambda *_: True) == -1
    assert highest_served(shop, lambda _: enough, ALL, lambda *_: True) == MAX_DIFFICULTY


def test_a_difficulty_below_that_does_not_serve_is_not_passed_over(small: Shop) -> None:
    """Many products of one kind have few known properties: higher difficulties have fewer targets, of more kinds."""
    everything, none = chosen(small, list(range(small.catalog.size))), chosen(small, [])

    def from_one_on(axes: Axes) -> RowSet:
        return none if axes.d == 0 else everything

    assert highest_served(small, from_one_on, HALF, lambda *_: True) == -1
    assert highest_served(small, lambda axes: none if axes.d == 3 else everything, HALF, lambda *_: True) == 2


def test_draws_must_come_off_in_every_split(small: Shop) -> None:
    everything = chosen(small, list(range(small.catalog.size)))
    assert highest_served(small, lambda _: everything, HALF, lambda world, _: world.split != "test") == -1
    tried = iter(range(10**6))
    assert highest_served(small, lambda _: everything, HALF, lambda *_: next(tried) % 4 == 0) == MAX_DIFFICULTY
    assert highest_served(small, lambda _: everything, HALF, lambda *_: next(tried) % 8 == 0) == -1


def test_a_shop_of_three_hundred_products_serves_product_discovery(small: Shop) -> None:
    assert environment("PD").max_difficulty(small) >= 0
