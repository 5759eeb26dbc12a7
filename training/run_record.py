"""Which run an output folder holds, so that a trainer that starts again goes on with it.

The record stands in the folder from the start and in every checkpoint. What a run has played follows from its step:
rows are made in the same order again, and a group's id is its number. So a trainer that goes on from a checkpoint plays
the groups after it, and those that were under way when it died once more: the server knows them by their ids.
"""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, ValidationError

from ecom_rlve import __version__
from ecom_rlve.training.recipe import Recipe

FILE = "ecom_rlve_run.json"


class RunFolderError(RuntimeError):
    """An output folder cannot be used for this run; the message says what to do."""


class RunRecord(BaseModel):
    """One run: its name at the server, and what it was started with."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run_id: str
    recipe: Recipe
    version: str
    """Of this package when the run began."""

    def write(self, folder: Path) -> None:
        """Write the record into a folder, which is made where there is none."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text(self.model_dump_json(indent=2) + "\n")


def begin(recipe: Recipe) -> RunRecord:
    """Start a run in a folder that holds none. Its id cannot be guessed, because whoever knows it can end its episodes.

    Raises :class:`RunFolderError` if the folder holds a run.
    """
    folder = Path(recipe.output)
    if (folder / FILE).exists():
        raise RunFolderError(f"{folder} holds a run; go on with it by --resume, or name another folder by --output")
    record = RunRecord(run_id=f"{folder.name}-{uuid4().hex}", recipe=recipe, version=__version__)
    record.write(folder)
    return record


def resumed(recipe: Recipe, checkpoint: Path | None) -> RunRecord:
    """Return the record of the run to go on with: the checkpoint's, or the folder's where there is no checkpoint yet.

    ``steps``, ``server`` and ``save_every`` may differ from what the run was started with. Raises
    :class:`RunFolderError` if there is no run, or anything else differs: a run's groups must be made in one way.
    """
    folder = checkpoint or Path(recipe.output)
    try:
        record = RunRecord.model_validate_json((folder / FILE).read_bytes())
    except FileNotFoundError:
        raise RunFolderError(f"{folder} holds no run to resume; start one without --resume") from None
    except ValidationError as error:
        raise RunFolderError(f"{folder / FILE} is no record of a run: {error}") from error
    free = {"steps", "server", "save_every", "output"}
    before, now = record.recipe.model_dump(exclude=free), recipe.model_dump(exclude=free)
    if changed := sorted(name for name in now if now[name] != before[name]):
        raise RunFolderError(
            f"the run in {folder} was started with other values of {', '.join(changed)}; begin a new run"
        )
    return record
