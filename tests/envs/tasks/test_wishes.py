"""Wishes for a kind of thing: the short way to move one bound leads where widening does."""

from __future__ import annotations

import numpy as np

from ecom_rlve.catalog.constraints import Op, all_met
from ecom_rlve.envs.parts.constraints import widened
from ecom_rlve.envs.tasks.bundle.wishes import conditions, draw_wishes
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.streams import stream

_LEAST_LEFT = 6


def test_a_bound_moves_as_far_as_widening_moves_it(wide_shop: Shop) -> None:
    moved = 0
    for seed in range(150):
        rng = stream(seed, "bounds")
        row = int(rng.integers(wide_shop.catalog.size))
        aisle = wide_shop.aisle(wide_shop.catalog.category_of(row).name)
        among = rng.random(len(aisle)) < rng.random()
        if np.count_nonzero(among) < _LEAST_LEFT:
            continue
        wanted = len(conditions(wide_shop, row))
        wishes, fitting = draw_wishes(wide_shop, row, aisle, among, wanted, rng)
        left = among
        for wish in wishes:
            natural = next(each for each in conditions(wide_shop, row) if each.attribute == wish.attribute)
            if natural.op is not Op.EQ:
                (expected,), _ = widened(aisle, [natural], left, _LEAST_LEFT)
                assert wish == expected
                moved += wish != natural
            left = all_met(aisle, [wish], left)
        assert np.array_equal(fitting, left)
    assert moved > 20
