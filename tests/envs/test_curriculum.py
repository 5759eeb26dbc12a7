"""The RLVE curriculum to the letter: what counts, when it climbs, that it never falls."""

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ecom_rlve.envs.curriculum import Curriculum, CurriculumParameters

ONE = Fraction(1)


def fed(
    curriculum: Curriculum, outcomes: Sequence[float], *, level: int | None = None, highest: int = 20
) -> Curriculum:
    for seed, outcome in enumerate(outcomes):
        d = curriculum.frontier("CART", "turn", "strict") if level is None else level
        curriculum.count("CART", "turn", "strict", d, seed, Fraction(str(outcome)), highest)
    return curriculum


@pytest.mark.parametrize(
    ("outcomes", "level"),
    [
        ([1] * 31, 0),
        ([1] * 32, 1),
        ([1] * 29 + [0] * 3, 1),
        ([1] * 28 + [0] * 4, 0),
        ([0.9] * 32, 1),
        ([1] * 64, 2),
        ([0] * 32 + [1] * 32, 1),
    ],
)
def test_it_climbs_at_nine_tenths_of_thirty_two(outcomes: list[float], level: int) -> None:
    assert fed(Curriculum(), outcomes).frontier("CART", "turn", "strict") == level


def test_counters_start_again_either_way() -> None:
    curriculum = fed(Curriculum(), [0] * 32 + [1] * 31)
    assert curriculum.frontier("CART", "turn", "strict") == 0
    assert fed(curriculum, [1]).frontier("CART", "turn", "strict") == 1


def test_only_the_frontier_counts() -> None:
    curriculum = fed(Curriculum(), [1] * 32)
    assert fed(curriculum, [1] * 100, level=0).frontier("CART", "turn", "strict") == 1
    assert fed(curriculum, [1] * 100, level=2).frontier("CART", "turn", "strict") == 1


def test_few_seeds_do_not_decide() -> None:
    curriculum = Curriculum()
    for number in range(200):
        curriculum.count("CART", "turn", "strict", 0, number % 15, ONE, 20)
    assert curriculum.frontier("CART", "turn", "strict") == 0
    curriculum.count("CART", "turn", "strict", 0, 15, ONE, 20)
    assert curriculum.frontier("CART", "turn", "strict") == 1


def test_environments_styles_and_formats_are_apart() -> None:
    curriculum = fed(Curriculum(), [1] * 32)
    assert (curriculum.frontier("CART", "tool", "strict"), curriculum.frontier("PD", "turn", "strict")) == (0, 0)
    assert curriculum.frontier("CART", "turn", "lenient") == 0
    curriculum.count("CART", "turn", "lenient", 0, 1, ONE, 20)
    assert Curriculum.restore(curriculum.export()).frontier("CART", "turn", "strict") == 1


def test_an_export_without_formats_is_of_the_strict_one() -> None:
    state = fed(Curriculum(), [1] * 32).export()
    for frontier in state["frontiers"]:
        del frontier["format"]
    assert Curriculum.restore(state).frontier("CART", "turn", "strict") == 1


def test_it_stops_where_the_catalog_does() -> None:
    assert fed(Curriculum(), [1] * 320, highest=3).frontier("CART", "turn", "strict") == 3


@pytest.mark.parametrize("highest", [0, -1])
def test_it_stays_at_zero_where_no_more_can_be_served(highest: int) -> None:
    assert fed(Curriculum(), [1] * 320, highest=highest).frontier("CART", "turn", "strict") == 0


def test_every_frontier_that_was_asked_for_is_told_in_order() -> None:
    curriculum = fed(Curriculum(), [1] * 32)
    curriculum.draw("BUNDLE", "tool", "lenient", 1)
    assert curriculum.frontiers() == [(("BUNDLE", "tool", "lenient"), 0), (("CART", "turn", "strict"), 1)]


@pytest.mark.parametrize(
    "wrong", [{"tau_num": 0}, {"tau_acc": 0}, {"tau_acc": 1.01}, {"window": 0}, {"least_seeds": 0}]
)
def test_parameters_that_never_or_always_climb_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        CurriculumParameters.model_validate(wrong)


def test_the_least_parameters_climb_at_every_success() -> None:
    least = CurriculumParameters(tau_num=1, tau_acc=1, window=1, least_seeds=1)
    curriculum = fed(Curriculum(least), [1, 0.99, 1])
    assert curriculum.frontier("CART", "turn", "strict") == 2
    assert {curriculum.draw("CART", "turn", "strict", seed) for seed in range(50)} == {2}


@given(st.integers(0, 20), st.integers(0, 2**53))
def test_draws_fall_into_the_window(level: int, seed: int) -> None:
    curriculum = fed(Curriculum(CurriculumParameters(tau_num=1, least_seeds=1)), [1] * level)
    assert curriculum.frontier("CART", "turn", "strict") == level
    drawn = curriculum.draw("CART", "turn", "strict", seed)
    assert max(0, level - 3) <= drawn <= level
    assert drawn == curriculum.draw("CART", "turn", "strict", seed)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=80))
def test_export_and_restore_lose_nothing(outcomes: list[float]) -> None:
    curriculum = fed(Curriculum(CurriculumParameters(tau_num=16)), outcomes)
    restored = Curriculum.restore(curriculum.export())
    assert restored.export() == curriculum.export()
    assert fed(restored, [1] * 16).export() == fed(curriculum, [1] * 16).export()


@pytest.mark.parametrize("state", [{}, {"parameters": {}, "frontiers": [{}]}, {"parameters": None, "frontiers": []}])
def test_what_is_no_state_is_refused(state: dict[str, object]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # pydantic's own errors are ValueErrors too
        Curriculum.restore(state)
