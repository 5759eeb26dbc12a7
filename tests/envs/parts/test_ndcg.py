"""nDCG and min–max: exact, and defined at every edge."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.parts.scores import Gains, discount, min_max, ndcg
from ecom_rlve.streams import stream

FRACTIONS = st.fractions(min_value=0, max_value=1, max_denominator=50)
NUMERATORS = st.lists(st.integers(0, 20), min_size=1, max_size=12)


def gains_of(numerators: list[int]) -> Gains:
    return Gains(np.arange(len(numerators), dtype=np.int32) * 3, np.array(numerators, dtype=np.int64), 20)


def test_discounts_fall() -> None:
    assert discount(0) == 1
    assert all(discount(place) > discount(place + 1) for place in range(200))


def test_ndcg_by_hand() -> None:
    gains = [Fraction(1), Fraction(1, 2)]
    log3 = discount(1)
    assert ndcg([Fraction(1, 2), Fraction(1)], gains) == (Fraction(1, 2) + log3) / (1 + log3 / 2)
    assert ndcg([], gains) == 0
    assert ndcg([Fraction(1)], gains) == 1 / (1 + log3 / 2)
    assert ndcg([Fraction(0), Fraction(0)], [Fraction(0)]) == 1
    assert ndcg([Fraction(1)], []) == 1


@given(st.lists(FRACTIONS, min_size=1, max_size=10))
def test_the_best_order_scores_exactly_one_and_no_other_more(gains: list[Fraction]) -> None:
    best = sorted(gains, reverse=True)
    assert ndcg(best, best) == 1
    assert 0 <= ndcg(gains, best) <= 1


@given(NUMERATORS, st.integers(1, 15), st.randoms(use_true_random=False))
def test_ties_never_matter(numerators: list[int], k: int, random: Random) -> None:
    gains = gains_of(numerators)
    best = gains.best_rows(k)
    assert gains.score(best, k) == 1
    of = {row: gains.of(row) for row in gains.rows.tolist()}
    shuffled = sorted(of, key=lambda row: (-of[row], random.random()))
    assert gains.score(shuffled[:k], k) == 1
    assert gains.score(shuffled, k) == 1


def test_repeats_unknown_ids_and_foreign_products_gain_nothing() -> None:
    gains = gains_of([20, 10, 5])
    assert gains.of(1) == 0
    assert gains.of(99) == 0
    assert gains.score([0, 0, 0], 3) == gains.score([0], 3) == gains.score([0, None, 1], 3)
    assert gains.score([0, 3], 3) < gains.score([0, 3, 6], 3) == 1
    assert gains.score([None], 3) == 0


def test_more_asked_for_than_there_is() -> None:
    assert gains_of([4, 8]).score([3, 0, 7, 9], 10) == 1


def test_min_max_of_equal_values_is_one() -> None:
    numerators, denominator = min_max(np.array([7, 7, 7]))
    assert numerators.tolist() == [1, 1, 1]
    assert denominator == 1
    numerators, denominator = min_max(np.array([-2, 3, 1]))
    assert (numerators.tolist(), denominator) == ([0, 5, 3], 5)
    assert min_max(np.array([], dtype=np.int64))[1] == 1


def by_sorting(gains: Gains, k: int) -> list[int]:
    """Return the best rows by sorting them all."""
    pairs = sorted(zip(-gains.numerators, gains.rows.tolist(), strict=True))
    return [row for _, row in pairs[:k]]


@given(st.integers(1, 6), st.integers(33, 300), st.integers(1, 12), st.integers(0, 2**32))
def test_the_best_of_very_many_are_those_that_sorting_gives(k: int, times: int, levels: int, seed: int) -> None:
    """Many products with few different gains, as in large categories: ties at the cut are settled by row too."""
    numerators = stream(seed, "gains").integers(levels, size=k * times)
    gains = Gains(np.arange(len(numerators), dtype=np.int32) * 3, numerators.astype(np.int64), 20)
    assert gains.best_rows(k) == by_sorting(gains, k)


@pytest.mark.parametrize("count", [63, 64, 65, 95, 96, 97, 128])
def test_ties_at_the_cut_go_to_the_lowest_rows(count: int) -> None:
    k = 2
    gains = gains_of([7] * count)
    assert gains.best_rows(k) == [0, 3]
    best_in_the_middle = gains_of([7] * (count - 10) + [9] + [7] * 9)
    assert best_in_the_middle.best_rows(k) == [3 * (count - 10), 0]
    assert best_in_the_middle.best_rows(count) == by_sorting(best_in_the_middle, count)
    assert gains.best_rows(0) == []
