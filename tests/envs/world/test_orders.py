"""The order history and the store's return rules: one draw, consistent dates, nothing that gives a target away."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest

from ecom_rlve.envs.difficulty import axes_of, overridden
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.splits import SPLITS, split_of
from ecom_rlve.envs.world.eligibility import eligibility
from ecom_rlve.envs.world.orders import Order, OrderStatus, delivered_count, edge_probability, has_histories
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import Return, World
from ecom_rlve.models import DomainCode, Split
from ecom_rlve.streams import Streams

LEVELS = (0, 3, 6, 9, 12)


def world(shop: Shop, seed: int, d: int = 6, split: Split = "train", **axes: float) -> World:
    return World(shop, overridden(axes_of(d), axes), Streams("orders", split, seed), split)


@pytest.mark.parametrize("d", LEVELS)
def test_a_history_is_as_long_as_the_axis_says_and_newest_first(shop: Shop, d: int) -> None:
    for seed in range(30):
        orders = world(shop, seed, d).orders
        assert len(orders) == axes_of(d).h_orders
        assert all(newer.placed >= older.placed for newer, older in pairwise(orders))
        assert len({(order.placed, order.total_cents) for order in orders}) == len(orders)
        assert len({order.order_id for order in orders}) == len(orders)
        lines = [line for order in orders for line in order.lines]
        assert len({line.line_id for line in lines}) == len(lines)
        assert {len(order.lines) for order in orders} <= {1, 2, 3, 4}


def test_lines_add_up_and_are_of_different_kinds_and_of_the_split(shop: Shop) -> None:
    catalog = shop.catalog
    lines = 0
    for split in ("train", "eval", "test"):
        for seed in range(20):
            for order in world(shop, seed, split=split).orders:
                kinds = [catalog.category_of(line.row).name for line in order.lines]
                assert len(set(kinds)) == len(kinds)
                assert order.total_cents == sum(line.price_cents * line.quantity for line in order.lines)
                for line in order.lines:
                    assert split_of(catalog.titles[line.row]) == split
                    full = catalog.value(line.row, "price")
                    assert isinstance(full, int | float)
                    is_reduced = line.price_cents < full
                    assert is_reduced == (line.sale_class != "regular") or full < 10
                    assert 1 <= line.quantity <= 4
                    lines += 1
    assert lines >= 3000


@pytest.mark.parametrize("d", LEVELS)
def test_status_and_dates_agree(shop: Shop, d: int) -> None:
    seen = set()
    for seed in range(60):
        store = world(shop, seed, d)
        for order in store.orders:
            seen.add(order.status)
            _check_dates(store, order)
    assert seen == set(OrderStatus)


def _check_dates(store: World, order: Order) -> None:
    today = store.today
    assert order.placed <= today
    if order.status is OrderStatus.CANCELLED:
        assert order.arrival is order.eta is order.delivered is None
    elif order.status is OrderStatus.DELIVERED:
        assert order.eta is None
        assert order.delivered is not None
        assert order.placed < order.delivered <= today
        assert order.arrival == order.delivered
    else:
        assert order.delivered is None
        assert order.arrival == order.eta is not None
        assert order.placed < order.eta
        assert order.eta >= today
        assert (order.status is OrderStatus.OUT_FOR_DELIVERY) == (order.eta == today)
    for line in order.lines:
        if line.returned is not None:
            window = store.window_days(store.shop.catalog.category_of(line.row).department)
            assert order.delivered is not None
            assert order.delivered < line.returned <= today
            assert line.returned <= order.delivered + timedelta(days=window)
            assert line.sale_class != "final_sale"


def test_equal_seeds_give_equal_histories_and_others_do_not(shop: Shop) -> None:
    assert world(shop, 3).orders == world(shop, 3).orders
    assert world(shop, 3).orders != world(shop, 4).orders
    assert world(shop, 3).orders != world(shop, 3, split="eval").orders


def test_only_its_own_axes_move_the_history(shop: Shop) -> None:
    plain = world(shop, 5).orders
    moved = world(shop, 5, p_missing=1.0, eps_rank=0.3, t_max=9, top_k=50, b_tool=1, m=2, p_noise=0.1)
    assert moved.orders == plain
    assert len(world(shop, 5, h_orders=40).orders) == 40


def test_ids_are_no_sequence(shop: Shop) -> None:
    orders = world(shop, 1, 12).orders
    numbers = [int(order.order_id[1:], 16) for order in orders]
    rises = sum(newer < older for newer, older in pairwise(numbers))
    assert len(numbers) / 4 < rises < len(numbers) * 3 / 4


@pytest.mark.slow
def test_the_share_of_orders_at_the_edge_of_their_window_is_as_stated(shop: Shop) -> None:
    """Of those that were delivered; some window ends within two days of today by chance, as the easiest level tells."""

    def measured(d: int) -> tuple[float, int]:
        at_edge = count = 0
        for seed in range(250):
            store = world(shop, seed, d)
            for order in store.orders:
                if order.delivered is None:
                    continue
                count += 1
                at_edge += any(_days_to_end(store, order, line.row) in (-2, -1, 1, 2) for line in order.lines)
        return at_edge / count, count

    base, _ = measured(0)
    chance = (base - edge_probability(0)) / (1 - edge_probability(0))
    assert 0 <= chance < 0.06
    for d in LEVELS[1:]:
        share, count = measured(d)
        stated = edge_probability(d) + (1 - edge_probability(d)) * chance
        assert abs(share - stated) <= max(0.1 * stated, 3 * (stated * (1 - stated) / count) ** 0.5), d


EVERY_LEVEL = (0, 3, 6, 9, 12, 20)


@pytest.mark.parametrize("d", EVERY_LEVEL)
def test_one_half_of_a_history_has_arrived(shop: Shop, d: int) -> None:
    """The most common status is no answer worth guessing, and every history has lines to send back (SPEC §6)."""
    statuses: Counter[OrderStatus] = Counter()
    for seed in range(40):
        orders = world(shop, seed, d).orders
        arrived = sum(order.status is OrderStatus.DELIVERED for order in orders)
        assert arrived == len(orders) // 2 == delivered_count(len(orders))
        statuses.update(order.status for order in orders)
    assert all(statuses[status] > 0.02 * statuses.total() for status in OrderStatus)
    assert len(world(shop, 1, d, h_orders=13).orders) == 13
    assert sum(order.delivered is not None for order in world(shop, 1, d, h_orders=13).orders) == 6


@pytest.mark.parametrize("d", EVERY_LEVEL)
def test_what_is_on_its_way_was_ordered_of_late(shop: Shop, d: int) -> None:
    ages: dict[bool, list[int]] = {True: [], False: []}
    for seed in range(20):
        store = world(shop, seed, d)
        for order in store.orders:
            ages[order.eta is not None].append((store.today - order.placed).days)
    assert max(ages[True]) <= 14
    assert fmean(ages[True]) < 10 < fmean(ages[False])


@pytest.mark.parametrize("d", EVERY_LEVEL)
def test_between_a_quarter_and_two_fifths_of_what_arrived_cannot_be_returned(shop: Shop, d: int) -> None:
    codes: Counter[DomainCode | None] = Counter()
    for seed in range(300 if d < 6 else 120):
        store = world(shop, seed, d)
        codes.update(
            eligibility(store, order, line).code
            for order in store.orders
            if order.delivered is not None
            for line in order.lines
        )
    assert 0.25 <= 1 - codes[None] / codes.total() <= 0.4
    for code in (DomainCode.WINDOW_CLOSED, DomainCode.FINAL_SALE, DomainCode.ALREADY_RETURNED):
        assert codes[code] > 0.03 * codes.total(), code


def _days_to_end(store: World, order: Order, row: int) -> int | None:
    if order.delivered is None:
        return None
    window = store.window_days(store.shop.catalog.category_of(row).department)
    return (order.delivered + timedelta(days=window) - store.today).days


@pytest.mark.parametrize("split", SPLITS)
def test_a_split_without_enough_kinds_is_a_typed_error(split: Split) -> None:
    tiny = Shop.open(str(Path(__file__).parents[2] / "catalog/made_up/shopify_jewelry.csv"), currency="USD")
    assert not has_histories(tiny)
    with pytest.raises(GenerationError, match=f"split '{split}'"):
        _ = world(tiny, 0, split=split).orders


@pytest.mark.parametrize("split", SPLITS)
def test_a_shop_of_sixty_products_has_histories_in_every_split(split: Split) -> None:
    small = Shop.open("synthetic:60:1")
    assert has_histories(small)
    orders = [order for seed in range(10) for order in world(small, seed, split=split).orders]
    assert {small.split(line.row) for order in orders for line in order.lines} == {split}


# --- What can be returned ---------------------------------------------------------------------------------------------


def delivered_order(store: World) -> Order:
    return next(order for order in store.orders if order.delivered is not None)


def test_the_window_ends_with_its_last_day(shop: Shop) -> None:
    store = world(shop, 2)
    order = delivered_order(store)
    line = order.lines[0]._replace(returned=None, sale_class="regular")
    window = store.window_days(shop.catalog.category_of(line.row).department)
    for days, code in ((window - 1, None), (window, None), (window + 1, DomainCode.WINDOW_CLOSED)):
        then = replace(order, delivered=store.today - timedelta(days=days))
        found = eligibility(store, then, line)
        assert (found.code, found.is_eligible) == (code, code is None)
        assert found.last_day == store.today + timedelta(days=window - days)


def test_every_reason_against_a_return(shop: Shop) -> None:
    store = world(shop, 2)
    order = replace(delivered_order(store), delivered=store.today)
    line = order.lines[0]._replace(returned=None, sale_class="regular")
    assert eligibility(store, order, line).is_eligible
    on_its_way = replace(order, delivered=None, status=OrderStatus.SHIPPED, eta=store.today)
    assert eligibility(store, on_its_way, line).code is DomainCode.NOT_DELIVERED
    cancelled = replace(order, delivered=None, status=OrderStatus.CANCELLED)
    assert eligibility(store, cancelled, line).code is DomainCode.NOT_DELIVERED
    assert eligibility(store, order, line._replace(returned=store.today)).code is DomainCode.ALREADY_RETURNED
    final = line._replace(sale_class="final_sale")
    terms = store.return_terms(shop.catalog.category_of(line.row).department, is_final_sale=True)
    assert eligibility(store, order, final).is_eligible == terms.is_returnable
    store.returns.append(Return(order.order_id, line.line_id, "damaged", "store_credit"))
    assert eligibility(store, order, line).code is DomainCode.ALREADY_RETURNED


def test_final_sale_is_returnable_only_where_the_policy_book_says_so(shop: Shop) -> None:
    outcomes = set()
    for seed in range(40):
        store = world(shop, seed, 12)
        for order in store.orders:
            for line in order.lines:
                if line.sale_class != "final_sale" or order.delivered is None or line.returned is not None:
                    continue
                department = shop.catalog.category_of(line.row).department
                found = eligibility(store, order, line)
                is_excepted = department == store.book.final_sale.department
                outcomes.add(is_excepted)
                assert (found.code is DomainCode.FINAL_SALE) != is_excepted
    assert outcomes == {True, False}


def test_branching_moves_what_eligibility_depends_on(shop: Shop) -> None:
    """Axis 10 alone: more sections of the policy book govern the terms of a return."""
    sections = []
    for branching in (1, 2, 3):
        store = world(shop, 7, b_branch=branching)
        sections.append(len(store.return_terms(shop.departments[0], is_final_sale=False).section_ids))
    assert sections[0] < sections[-1]
    assert sections == sorted(sections)
    windows = {world(shop, 7, b_branch=3).window_days(department) for department in shop.departments}
    assert len(windows) > 1
