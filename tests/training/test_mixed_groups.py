"""The share of groups from which a learner learns."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import policies_of
from ecom_rlve.evaluation.in_process import listed_of
from ecom_rlve.training.mixed_groups import STRENGTHS, markdown, mixed_share, shares_at


@given(st.floats(0, 1), st.integers(1, 6))
def test_the_share_equals_that_over_all_outcomes_of_a_group(success: float, group: int) -> None:
    mixed = 0.0
    for outcome in product((True, False), repeat=group):
        right = sum(outcome)
        mixed += success**right * (1 - success) ** (group - right) * (0 < right < group)
    assert mixed_share([success], group) == pytest.approx(mixed, abs=1e-12)


def test_a_difficulty_at_which_lazy_policies_fail_has_mixed_groups(shop: Shop) -> None:
    policies = policies_of("STATUS", listed_of(shop))
    weak, middle, strong = shares_at(shop, policies, 6, 6)
    assert weak > 0.5
    assert middle > strong > 0


def test_the_table_has_a_share_for_each_strength() -> None:
    lines = markdown([("CART", [[0.1, 0.2, 0.3]] * 5)]).splitlines()
    assert lines[-1].count("0.10 / 0.20 / 0.30") == 5
    assert len(STRENGTHS) == 3
