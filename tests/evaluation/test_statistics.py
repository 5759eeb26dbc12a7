"""Exact intervals and paired tests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.evaluation.statistics import clopper_pearson, paired_p_value


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"), [(0, 200, 0.0, 0.0183), (10, 200, 0.0242, 0.0900), (200, 200, 0.9817, 1.0)]
)
def test_intervals_match_published_values(successes: int, trials: int, low: float, high: float) -> None:
    assert clopper_pearson(successes, trials) == pytest.approx((low, high), abs=1e-4)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_share_and_widens_with_confidence(counts: tuple[int, int]) -> None:
    successes, trials = counts
    low, high = clopper_pearson(successes, trials)
    wide_low, wide_high = clopper_pearson(successes, trials, 0.999)
    assert 0 <= wide_low <= low <= successes / trials <= high <= wide_high <= 1


def test_paired_differences_decide() -> None:
    lower, higher = [0.0, 0.1, 0.2, 0.0], [0.5, 0.7, 0.6, 0.55]
    assert paired_p_value(lower, higher) < 0.01
    assert paired_p_value(higher, lower) > 0.99


@pytest.mark.parametrize(("lower", "higher", "p"), [([1.0, 1.0], [1.0, 1.0], 1.0), ([0.0, 0.0], [1.0, 1.0], 0.0)])
def test_equal_differences_are_decided_without_a_spread(lower: list[float], higher: list[float], p: float) -> None:
    assert paired_p_value(lower, higher) == p
