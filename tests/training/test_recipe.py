"""Recipes: those that ship are the authors' configuration, and what is wrong in a file is named."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from ecom_rlve.training.recipe import COLLECTIONS, Recipe, RecipeError, load_recipe

RECIPES = Path(str(resources.files("ecom_rlve.training.recipes")))


@pytest.fixture
def c1() -> Recipe:
    return load_recipe(RECIPES / "c1.yaml")


def test_c1_is_the_authors_configuration(c1: Recipe) -> None:
    assert (c1.model, c1.env_ids, c1.steps) == ("Qwen/Qwen3-8B", ("CART",), 300)
    assert (c1.group_size, c1.learning_rate, c1.kl) == (8, 1e-5, 0.0)
    assert (c1.clip_low, c1.clip_high, c1.tau_num) == (0.2, 0.28, 32)
    assert c1.prompts == 4800


def test_c8_lets_the_frontiers_rise(c1: Recipe) -> None:
    c8 = load_recipe(RECIPES / "c8.yaml")
    assert (c8.env_ids, c8.tau_num) == (COLLECTIONS["C8"], 16)
    assert c8.prompts_per_step % len(c8.env_ids) == 0
    changed = {"environments", "tau_num", "output", "max_completion_tokens"}
    assert c8.model_dump(exclude=changed) == c1.model_dump(exclude=changed)


@pytest.mark.parametrize(("processes", "passes"), [(1, 16), (2, 8), (8, 2), (16, 1)])
def test_rollouts_of_a_step_are_shared_by_the_processes(c1: Recipe, processes: int, passes: int) -> None:
    assert c1.accumulation(processes) == passes


def test_rollouts_that_do_not_come_out_are_refused(c1: Recipe) -> None:
    with pytest.raises(RecipeError, match="16 prompts × 8 rollouts are 128, which 3 processes"):
        c1.accumulation(3)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("steps: 300", "steps: '300'", "steps: Input should be a valid integer"),
        ("steps: 300", "stepps: 300", "steps: Field required; stepps: Extra inputs"),
        ("group_size: 8", "group_size: 1", "group_size: Input should be greater"),
        ("environments: C1", "environments: C3", "one of C1, C2, C4, C8 or a list of ids"),
        ("environments: C1", "environments: []", "name at least one"),
        ("steps: 300", "steps: [", "expected"),
    ],
)
def test_faults_are_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = (RECIPES / "c1.yaml").read_text()
    assert old in text
    file = tmp_path / "recipe.yaml"
    file.write_text(text.replace(old, new))
    with pytest.raises(RecipeError, match=r"recipe\.yaml: ") as caught:
        load_recipe(file)
    assert said in str(caught.value)


def test_a_recipe_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="nowhere"):
        load_recipe(tmp_path / "nowhere.yaml")


def test_environments_may_be_listed(c1: Recipe) -> None:
    assert Recipe.model_validate(c1.model_dump() | {"environments": ["PD", "POLICY"]}).env_ids == ("PD", "POLICY")
