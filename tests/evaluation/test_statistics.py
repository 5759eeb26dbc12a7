"""Exact intervals and paired tests."""

from itertools import combinations
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from ecom_rlve.evaluation.statistics import (
    Proportion,
    clopper_pearson,
    paired_difference,
    paired_p_value,
    pass_hat_k,
    proportion,
    wilson,
)
from ecom_rlve.streams import stream


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


@given(
    st.integers(1, 8).flatmap(lambda n: st.tuples(st.lists(st.booleans(), min_size=n, max_size=n), st.integers(1, n)))
)
def test_pass_hat_k_is_the_share_of_subsets_that_all_succeed(drawn: tuple[list[bool], int]) -> None:
    trials, k = drawn
    subsets = list(combinations(trials, k))
    brute = sum(all(subset) for subset in subsets) / len(subsets)
    assert pass_hat_k(len(trials), sum(trials), k) == pytest.approx(brute)


@pytest.mark.parametrize(("trials", "successes", "k"), [(4, 2, 0), (4, 2, 5), (4, 5, 1), (4, -1, 1), (0, 0, 1)])
def test_there_is_no_pass_hat_k_of_what_cannot_be_drawn(trials: int, successes: int, k: int) -> None:
    with pytest.raises(ValueError, match="no pass"):
        pass_hat_k(trials, successes, k)


@pytest.mark.parametrize(
    ("share", "trials", "low", "high"), [(0.0, 20, 0.0, 0.1611), (0.5, 20, 0.2993, 0.7007), (1.0, 20, 0.8389, 1.0)]
)
def test_wilsons_interval_matches_published_values(share: float, trials: int, low: float, high: float) -> None:
    assert wilson(share, trials) == pytest.approx((low, high), abs=1e-4)
    assert wilson(share, 0) == (0.0, 1.0)


def test_wilsons_interval_covers_at_its_nominal_rate() -> None:
    """On average over true shares, exactly: weighed by the probability of each count."""
    counts = np.arange(41)
    bounds = np.array([wilson(count / 40, 40) for count in counts])
    covered = [
        float(binom.pmf(counts, 40, share)[(bounds[:, 0] <= share) & (share <= bounds[:, 1])].sum())
        for share in np.linspace(0.02, 0.98, 193)
    ]
    assert fmean(covered) == pytest.approx(0.95, abs=0.01)
    assert min(covered) > 0.83


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0])
def test_repeated_trials_do_not_narrow_the_interval_more_than_they_tell(spread: float) -> None:
    """Four trials each of 40 episodes, in which the agent's chance varies: from not at all to always or never."""
    rng, hits = stream(5, "coverage", str(spread)), 0
    for _ in range(600):
        chances = rng.beta(0.6 * (1 - spread) / spread, 0.4 * (1 - spread) / spread, 40) if 0 < spread < 1 else None
        if chances is None:
            chances = np.full(40, 0.6) if spread == 0 else (rng.random(40) < 0.6).astype(float)
        found = proportion([(int(rng.binomial(4, chance)), 4) for chance in chances])
        hits += found.low <= 0.6 <= found.high
    assert 0.92 <= hits / 600 <= 0.99


def test_a_rate_of_nothing_says_nothing_and_one_episode_tells_little() -> None:
    assert proportion([]) == Proportion(0.0, 0.0, 1.0)
    assert proportion([(4, 4)]).low == pytest.approx(wilson(1.0, 1)[0])
    assert proportion([(1, 1), (0, 1)]) == Proportion(0.5, *wilson(0.5, 2))
    assert proportion([(2, 4), (2, 4)]) == Proportion(0.5, *wilson(0.5, 8))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=13))
def test_of_outcomes_that_are_right_or_wrong_the_test_is_mcnemars(pairs: list[tuple[bool, bool]]) -> None:
    found = paired_difference([float(one) for one, _ in pairs], [float(other) for _, other in pairs])
    better, worse = pairs.count((False, True)), pairs.count((True, False))
    exact = binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert found.p == pytest.approx(exact)
    assert found.mean == pytest.approx((better - worse) / len(pairs))
    assert found.low <= found.mean <= found.high


def test_paired_differences_are_found_where_there_are_some_and_only_there() -> None:
    rng = stream(7, "pairs")
    base = rng.normal(0, 1, 200)
    better = paired_difference(base.tolist(), (base + 0.1 + rng.normal(0, 0.2, 200)).tolist())
    assert better.p < 0.001
    assert better.low > 0
    seen = [paired_difference(rng.normal(0, 1, 30).tolist(), rng.normal(0, 1, 30).tolist()).p for _ in range(100)]
    assert 0 <= sum(p < 0.05 for p in seen) <= 12
    assert paired_difference([1.0], [1.0]).p == 1.0
    with pytest.raises(ValueError, match="without an episode in common"):
        paired_difference([], [])
