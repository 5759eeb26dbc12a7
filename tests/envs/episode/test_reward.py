"""Reward composition: the authors' second golden episode, and the order of outcomes."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.episode.reward import Turns, compose, efficiency, hallucination
from ecom_rlve.envs.goal import Verdict
from ecom_rlve.envs.parts.scores import unit_f1
from ecom_rlve.models import EpisodeResult, Termination

WANTED = {("charger", "100 W"): 1, ("air fryer", "activated carbon"): 1, ("tank top", "xs"): 3}
GIVEN = {("charger", "100 W"): 1, ("air fryer", "bamboo"): 1, ("tank top", "xl"): 3, ("tank top", "xs"): 2}

verdicts = st.builds(
    lambda r, ids: Verdict(r, r == 1, tuple(ids)),
    st.fractions(-1, 1, max_denominator=50),
    st.lists(st.sampled_from("abcd"), max_size=4),
)
turns = st.builds(
    lambda t_max, total, caused: Turns(total, min(caused, total), t_max),
    st.integers(2, 14),
    st.integers(1, 28),
    st.integers(0, 14),
)


def composed(
    verdict: Verdict, counts: Turns, shown: str = "abcd", end: Termination = Termination.ANSWERED
) -> EpisodeResult:
    return compose(verdict, counts, set(shown), end, "turn")


def test_the_authors_episode_at_difficulty_eight() -> None:
    f1 = unit_f1(WANTED, GIVEN)
    result = composed(Verdict(2 * f1 - 1, correct=False, output_ids=("a", "b", "c")), Turns(8, 2, t_max=8))
    assert (result.r_task, round(result.r_eff, 2), result.r_hall) == (0.0, -0.43, 0.0)
    assert round(result.r_total, 2) == -0.06
    assert not result.is_correct


def test_efficiency_of_the_authors_episode_at_difficulty_one() -> None:
    assert efficiency(Turns(3, 1, t_max=4)) == Fraction(1, 3)


@pytest.mark.parametrize(("ids", "shown", "expected"), [("", "", 0), ("ab", "a", Fraction(-1, 2)), ("aab", "ab", 0)])
def test_hallucination_counts_distinct_ids(ids: str, shown: str, expected: Fraction) -> None:
    assert hallucination(tuple(ids), set(shown)) == expected


@given(verdicts, turns, st.sets(st.sampled_from("abcd")))
def test_totals_are_bounded_and_correctness_needs_shown_ids(verdict: Verdict, counts: Turns, shown: set[str]) -> None:
    result = composed(verdict, counts, "".join(sorted(shown)))
    assert -1 <= result.r_total <= 1
    assert result.is_correct == (verdict.correct and set(verdict.output_ids) <= shown)
    assert result.is_correct or result.r_eff <= 0
    assert result.r_task >= 0 or result.r_eff == -1


@given(verdicts, turns)
def test_format_failure_is_the_worst(verdict: Verdict, counts: Turns) -> None:
    forfeit = Verdict(Fraction(-1), correct=False, output_ids=verdict.output_ids)
    failed = composed(forfeit, counts, end=Termination.FORMAT_FAILURE)
    quit_ = composed(forfeit, counts, end=Termination.TURN_BUDGET)
    assert failed.r_total == -1.0
    assert failed.r_total <= quit_.r_total <= composed(verdict, counts).r_total
    assert not failed.is_correct
    assert not quit_.is_correct


@given(verdicts, turns)
def test_unseen_ids_never_pay(verdict: Verdict, counts: Turns) -> None:
    assert composed(verdict, counts, "").r_total <= composed(verdict, counts).r_total


def test_a_perfect_answer_has_no_epsilon() -> None:
    result = composed(Verdict(Fraction(1), correct=True), Turns(1, 0, t_max=5))
    assert (result.r_task, result.r_total) == (1.0, 0.9)
