"""The table of paces, against the curriculum's own drawing with gates that all pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from ecom_rlve.envs.curriculum.gate import drawn_difficulty
from ecom_rlve.run_models import CurriculumParameters
from ecom_rlve.training.paces import PASSES, WINDOW, prompts_to_reach, steps_to_reach, table


def test_the_rules_are_the_curriculums_own() -> None:
    defaults = CurriculumParameters()
    assert (defaults.passes, defaults.window) == (PASSES, WINDOW)


@pytest.mark.parametrize(("difficulty", "tau_num"), [(1, 8), (5, 32), (10, 16)])
def test_a_curriculum_that_never_fails_rises_at_that_pace(difficulty: int, tau_num: int) -> None:
    level = counted = prompts = 0
    while level < difficulty:
        prompts += 1
        counted += drawn_difficulty(level, WINDOW, "CART", "tool", prompts) == level
        if counted == PASSES * tau_num:
            level, counted = level + 1, 0
    assert prompts == pytest.approx(prompts_to_reach(difficulty, tau_num), rel=0.2)


def test_the_paces_that_the_recipes_rest_on() -> None:
    assert steps_to_reach(5, tau_num=16, prompts_per_step=16, environments=8) == 224
    assert steps_to_reach(5, tau_num=32, prompts_per_step=16, environments=1) == 56
    assert steps_to_reach(1, tau_num=1, prompts_per_step=1000, environments=1) == 1
    assert steps_to_reach(0, tau_num=32, prompts_per_step=16, environments=1) == 0


def test_the_table_has_a_row_for_each_collection_and_gate() -> None:
    lines = table(16, [5]).splitlines()
    assert len(lines) == 2 + 4 * 3
    assert "| C8 | 16 | 224 |" in lines


def test_the_page_shows_the_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "trainers.md").read_text()
    assert page.partition("<!-- paces -->\n")[2].partition("\n<!-- /paces -->")[0] == table(16)
