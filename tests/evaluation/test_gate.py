"""The gate is not luck: fed with made-up outcomes, it keeps a policy out that is right in three of four episodes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from ecom_rlve.envs.curriculum.gate import Curriculum
from ecom_rlve.envs.curriculum.ledger import Key, MemoryLedger
from ecom_rlve.evaluation.gate import markdown, outcomes, passing
from ecom_rlve.run_models import CurriculumParameters

DEFAULT = CurriculumParameters()
GATES = 50_000
CART: Key = ("CART", "turn", "strict")


def share(success: float, *, are_equal: bool, parameters: CurriculumParameters = DEFAULT) -> float:
    return passing(outcomes(success, GATES, parameters.tau_num, are_equal=are_equal), parameters).share


@pytest.mark.parametrize(
    ("success", "least", "most"),
    [(0.75, 0, 0.001), (0.9, 0.2, 0.3), (0.95, 0.43, 0.5), (0.99, 0.49, 0.5)],
)
def test_groups_of_equal_outcomes_pass_by_skill_and_not_by_luck(success: float, least: float, most: float) -> None:
    """Two gates are needed for a level, so half of them is all that can be."""
    assert least <= share(success, are_equal=True) <= most


@pytest.mark.parametrize(("success", "least", "most"), [(0.75, 0, 0), (0.85, 0, 0.001), (0.95, 0.49, 0.5)])
def test_independent_outcomes_are_judged_more_sharply(success: float, least: float, most: float) -> None:
    assert least <= share(success, are_equal=False) <= most


def test_one_gate_alone_would_be_luck() -> None:
    assert share(0.75, are_equal=True, parameters=CurriculumParameters(passes=1)) > 0.01


def climbed(correct: NDArray[np.bool_], parameters: CurriculumParameters) -> int:
    """Feed the curriculum itself; return its level."""
    curriculum = Curriculum(MemoryLedger(), parameters)
    for number, group in enumerate(correct.reshape(-1, correct.shape[2]).tolist()):
        level = curriculum.level(CART)
        curriculum.issue(CART, level, number, is_grouped=True)
        for at in range(len(group)):
            curriculum.begin(CART, level, number, str(at))
        for at, is_correct in enumerate(group):
            curriculum.end(CART, number, str(at), Fraction(is_correct), 1000)
    return curriculum.level(CART)


@pytest.mark.parametrize("are_equal", [True, False])
def test_the_simulation_judges_as_the_curriculum_does(are_equal: bool) -> None:
    for success, passes in ((0.85, 1), (0.9, 2), (0.95, 3)):
        parameters = CurriculumParameters(tau_num=8, passes=passes)
        drawn = outcomes(success, 60, 8, are_equal=are_equal)
        assert 0 < passing(drawn, parameters).rises == climbed(drawn, parameters)


def test_the_table_has_a_row_for_each_success() -> None:
    rows = markdown(CurriculumParameters(tau_num=4), 10).splitlines()[2:]
    assert [row.split(" | ")[0] for row in rows] == ["| 0.75", "| 0.80", "| 0.85", "| 0.90", "| 0.95", "| 0.99"]
    assert all(len(row.split(" | ")) == 5 for row in rows)
