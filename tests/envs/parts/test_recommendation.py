"""Numbers of environments whose answer is a list of products."""

from __future__ import annotations

import pytest

from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.parts.recommendation import most_fitting


@pytest.mark.parametrize(("d", "calls", "most"), [(0, 2, 40), (1, 2, 40), (2, 3, 60), (4, 4, 60), (20, 6, 60)])
def test_two_turns_of_searching_can_show_what_fits_up_to_sixty_products(d: int, calls: int, most: int) -> None:
    assert axes_of(d).b_tool == calls
    assert most_fitting(axes_of(d)) == most
