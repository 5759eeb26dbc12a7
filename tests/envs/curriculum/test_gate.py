"""The RLVE curriculum to the letter: what counts, when it climbs, that it never falls."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ecom_rlve.envs.curriculum.gate import Curriculum
from ecom_rlve.envs.curriculum.ledger import Key, MemoryLedger, Outcome
from ecom_rlve.models import Uncounted
from ecom_rlve.run_models import CurriculumParameters

CART: Key = ("CART", "turn", "strict")
ONE = Fraction(1)


def made(**parameters: float) -> Curriculum:
    return Curriculum(MemoryLedger(), CurriculumParameters.model_validate(parameters))


def fed(curriculum: Curriculum, outcomes: Sequence[float], *, first: int = 0, highest: int = 20) -> Curriculum:
    """Count episodes at the frontier, one after another, each of a new seed."""
    for seed, outcome in enumerate(outcomes, first):
        level = curriculum.level(CART)
        curriculum.issue(CART, level, seed)
        assert curriculum.begin(CART, level, seed, "e") is None
        assert curriculum.end(CART, seed, "e", Fraction(str(outcome)), highest)
    return curriculum


@pytest.mark.parametrize(
    ("outcomes", "level"),
    [
        ([1] * 63, 0),
        ([1] * 64, 1),
        ([1] * 29 + [0] * 3 + [1] * 32, 1),
        ([1] * 28 + [0] * 4 + [1] * 32, 0),
        ([1] * 28 + [0] * 4 + [1] * 64, 1),
        ([1] * 32 + [0] * 32 + [1] * 32, 0),
        ([0.9] * 64, 1),
        ([1] * 128, 2),
        ([1] * 96, 1),
    ],
)
def test_it_climbs_when_two_gates_in_a_row_are_nine_tenths_right(outcomes: list[float], level: int) -> None:
    assert fed(made(), outcomes).level(CART) == level


def test_a_group_is_one_seed_however_many_episodes_it_has() -> None:
    curriculum = made(tau_num=2, passes=1)
    curriculum.issue(CART, 0, 7, is_grouped=True)
    for number in range(100):
        assert curriculum.begin(CART, 0, 7, f"e{number}") is None
        curriculum.end(CART, 7, f"e{number}", ONE, 20)
    assert curriculum.level(CART) == 0
    fed(curriculum, [0.8])
    # Its hundred episodes weigh as much as the one of the other seed: (1 + 0.8) / 2 = 0.9.
    assert curriculum.level(CART) == 1


def test_a_seed_is_ready_when_none_of_its_episodes_is_live() -> None:
    curriculum = made(tau_num=1, passes=1)
    curriculum.issue(CART, 0, 7)
    for episode_id in ("a", "b", "c"):
        assert curriculum.begin(CART, 0, 7, episode_id) is None
    assert curriculum.end(CART, 7, "a", ONE, 20)
    assert not curriculum.end(CART, 7, "b", None, 20)
    assert curriculum.level(CART) == 0
    assert curriculum.end(CART, 7, "c", ONE, 20)
    assert curriculum.level(CART) == 1


@pytest.mark.parametrize(("outcome", "level"), [(ONE, 1), (Fraction(0), 0), ("left", 0)])
def test_an_episode_that_was_given_up_counts_as_not_correct(outcome: Outcome, level: int) -> None:
    curriculum = made(tau_num=1, passes=1)
    curriculum.issue(CART, 0, 7)
    curriculum.begin(CART, 0, 7, "e")
    assert curriculum.end(CART, 7, "e", outcome, 20)
    assert curriculum.level(CART) == level
    curriculum.issue(CART, level, 7)
    assert curriculum.why_not(CART, 0, 7, "f") == (Uncounted.BELOW_FRONTIER if level else Uncounted.JUDGED)


def test_a_group_without_any_result_is_dropped_and_may_be_played_again() -> None:
    curriculum = made(tau_num=1, passes=1)
    curriculum.issue(CART, 0, 7, is_grouped=True)
    for episode_id in ("a", "b"):
        curriculum.begin(CART, 0, 7, episode_id)
    for episode_id in ("a", "b"):
        curriculum.end(CART, 7, episode_id, "left", 20)
    assert curriculum.why_not(CART, 0, 7, "a") is None
    curriculum.begin(CART, 0, 7, "a")
    curriculum.end(CART, 7, "a", ONE, 20)
    assert curriculum.level(CART) == 1


def test_an_episode_counts_once_whoever_reports_it() -> None:
    curriculum = made(tau_num=3)
    curriculum.issue(CART, 0, 7)
    assert curriculum.begin(CART, 0, 7, "e") is None
    assert curriculum.begin(CART, 0, 7, "e") is Uncounted.REPEATED
    assert curriculum.end(CART, 7, "e", ONE, 20)
    assert not curriculum.end(CART, 7, "e", Fraction(0), 20)
    assert curriculum.begin(CART, 0, 7, "e") is Uncounted.REPEATED
    assert curriculum.begin(CART, 0, 7, "f") is None


def test_what_was_not_drawn_at_the_frontier_does_not_count() -> None:
    curriculum = fed(made(tau_num=1, passes=1), [1, 1])
    curriculum.issue(CART, 2, 9)
    assert curriculum.why_not(CART, 2, 9, "e") is None
    assert curriculum.why_not(CART, 1, 9, "e") is Uncounted.BELOW_FRONTIER
    assert curriculum.why_not(CART, 3, 9, "e") is Uncounted.NOT_DRAWN
    assert curriculum.why_not(CART, 2, 10, "e") is Uncounted.NOT_DRAWN
    curriculum.issue(CART, 1, 10)
    assert curriculum.why_not(CART, 2, 10, "e") is Uncounted.NOT_DRAWN
    assert not curriculum.end(CART, 10, "e", ONE, 20)


def test_late_episodes_count_for_nothing() -> None:
    curriculum = made(tau_num=1, passes=2)
    curriculum.issue(CART, 0, 50)
    curriculum.begin(CART, 0, 50, "late")
    fed(curriculum, [1, 1])
    assert curriculum.level(CART) == 1
    assert not curriculum.end(CART, 50, "late", ONE, 20)


def test_environments_styles_and_formats_are_apart() -> None:
    curriculum = fed(made(), [1] * 64)
    others: list[Key] = [("CART", "tool", "strict"), ("CART", "turn", "lenient"), ("PD", "turn", "strict")]
    assert [curriculum.level(other) for other in others] == [0, 0, 0]
    assert curriculum.why_not(others[0], 0, 1, "e") is Uncounted.NOT_DRAWN


@pytest.mark.parametrize(("highest", "level"), [(3, 3), (0, 0), (-1, 0)])
def test_it_stops_where_the_catalog_does(highest: int, level: int) -> None:
    assert fed(made(), [1] * 640, highest=highest).level(CART) == level


@pytest.mark.parametrize(
    "wrong", [{"tau_num": 0}, {"tau_acc": 0}, {"tau_acc": 1.01}, {"window": 0}, {"passes": 0}, {"least_seeds": 3}]
)
def test_parameters_that_never_or_always_climb_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        CurriculumParameters.model_validate(wrong)


@given(st.integers(0, 20), st.integers(0, 2**53))
def test_draws_fall_into_the_window(level: int, seed: int) -> None:
    curriculum = fed(made(tau_num=1, passes=1), [1] * level)
    drawn = curriculum.draw("CART", "turn", "strict", seed)
    assert max(0, level - 3) <= drawn <= level
    assert drawn == curriculum.draw("CART", "turn", "strict", seed)
    narrow = fed(made(tau_num=1, passes=1, window=1), [1] * level)
    assert narrow.draw("CART", "turn", "strict", seed) == level


EPISODES = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from([ONE, Fraction(0), Fraction(2, 3), "left", None])),
    min_size=1,
    max_size=30,
)


@given(EPISODES, st.data())
def test_the_order_of_ends_changes_nothing_before_the_gate(
    episodes: list[tuple[int, Outcome | None]], data: st.DataObject
) -> None:
    """Every episode begins before the first ends, so no seed can be judged before its last episode."""

    def played(order: Sequence[int]) -> list[object]:
        ledger = MemoryLedger()
        curriculum = Curriculum(ledger, CurriculumParameters(tau_num=10))
        for number, (seed, _) in enumerate(episodes):
            curriculum.issue(CART, 0, seed, is_grouped=seed % 2 == 1)
            assert curriculum.begin(CART, 0, seed, str(number)) is None
        counted = sum(curriculum.end(CART, episodes[at][0], str(at), episodes[at][1], 20) for at in order)
        again = sum(curriculum.end(CART, episodes[at][0], str(at), ONE, 20) for at in order)
        return [counted, again, *(ledger.seed(CART, seed) for seed in range(6))]

    numbers = list(range(len(episodes)))
    in_order = played(numbers)
    order = data.draw(st.permutations(numbers))
    assert played(order) == in_order
    assert in_order[:2] == [sum(outcome is not None for _, outcome in episodes), 0]
