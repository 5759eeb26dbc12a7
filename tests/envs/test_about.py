"""What environments declare of chance is what their worlds hold."""

from __future__ import annotations

from statistics import fmean

import pytest

from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.registry import environment
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

LEVELS = (0, 3, 6, 9, 12)


def world_of(shop: Shop, env_id: str, d: int, seed: int) -> World:
    streams = Streams("episode", env_id, "train", seed)
    return environment(env_id).draw(World(shop, axes_of(d), streams), streams).world


@pytest.mark.parametrize("d", LEVELS)
def test_a_pick_from_the_history_of_a_cart_finds_half_of_the_targets(wide_shop: Shop, d: int) -> None:
    for seed in range(5):
        entries = len(world_of(wide_shop, "CART", d, seed).history)
        assert environment("CART").about.chance(d) == 1 / (2 * entries)


@pytest.mark.parametrize("d", LEVELS)
def test_a_pick_of_an_order_is_one_of_those_in_the_history(wide_shop: Shop, d: int) -> None:
    assert environment("STATUS").about.chance(d) == 1 / len(world_of(wide_shop, "STATUS", d, 1).orders)


def test_a_pick_of_a_line_is_one_of_about_as_many_as_declared(wide_shop: Shop) -> None:
    worlds = [world_of(wide_shop, "RETURN", 6, seed) for seed in range(60)]
    lines = fmean(sum(len(order.lines) for order in world.orders if order.delivered is not None) for world in worlds)
    # 12 delivered orders of 1 to 4 lines, 60 times: the mean's standard deviation is 0.5.
    assert lines == pytest.approx(1 / environment("RETURN").about.chance(6), abs=2)


def test_what_is_told_of_chance_has_every_difficulty_or_none() -> None:
    for env_id in ("CART", "PD", "POLICY"):
        about = environment(env_id).about
        told = about.info(3).chance
        assert told == ([] if about.candidates is None else [about.chance(d) for d in range(MAX_DIFFICULTY + 1)])
        assert about.info(3).max_difficulty == 3
