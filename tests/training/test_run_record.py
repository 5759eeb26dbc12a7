"""Output folders: a run is never overwritten, never mixed, and goes on under its own name."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from ecom_rlve.training.recipe import Recipe, load_recipe
from ecom_rlve.training.run_record import FILE, RunFolderError, begin, resumed


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    shipped = load_recipe(Path(str(resources.files("ecom_rlve.training.recipes") / "c1.yaml")))
    return shipped.model_copy(update={"output": str(tmp_path / "mine")})


def test_a_run_goes_on_under_its_name(recipe: Recipe) -> None:
    record = begin(recipe)
    assert record.run_id.startswith("mine-")
    assert resumed(recipe, None) == record
    longer = recipe.model_copy(update={"steps": 600, "server": "http://elsewhere:8000", "save_every": 1})
    assert resumed(longer, None).run_id == record.run_id


def test_two_runs_of_one_folder_name_are_two_runs(recipe: Recipe, tmp_path: Path) -> None:
    other = recipe.model_copy(update={"output": str(tmp_path / "elsewhere" / "mine")})
    assert begin(recipe).run_id != begin(other).run_id


def test_a_checkpoint_carries_its_run(recipe: Recipe, tmp_path: Path) -> None:
    record = begin(recipe)
    record.write(tmp_path / "checkpoint-7")
    (tmp_path / "mine" / FILE).unlink()
    assert resumed(recipe, tmp_path / "checkpoint-7") == record


def test_a_folder_that_holds_a_run_is_not_begun_again(recipe: Recipe) -> None:
    begin(recipe)
    with pytest.raises(RunFolderError, match="--resume"):
        begin(recipe)


def test_a_run_is_not_gone_on_with_in_another_way(recipe: Recipe) -> None:
    begin(recipe)
    with pytest.raises(RunFolderError, match="group_size, prompts_per_step"):
        resumed(recipe.model_copy(update={"group_size": 4, "prompts_per_step": 32}), None)


def test_what_is_no_run_is_not_resumed(recipe: Recipe) -> None:
    with pytest.raises(RunFolderError, match="holds no run"):
        resumed(recipe, None)
    begin(recipe)
    (Path(recipe.output) / FILE).write_text("{")
    with pytest.raises(RunFolderError, match="no record of a run"):
        resumed(recipe, None)
