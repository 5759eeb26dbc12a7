"""The authors' recipe with TRL: ``python -m ecom_rlve.training.grpo --config training/recipes/c1.yaml``.

Needs the extra ``[trl]`` and a running server. ``--dry-run`` needs no accelerator and no model: it takes two real steps
of a tiny random model on CPU, against a server that it starts itself where none is named.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from accelerate import PartialState
from datasets import Dataset
from transformers import TrainerCallback
from transformers.trainer_utils import get_last_checkpoint
from trl import GRPOConfig

from ecom_rlve.client import (
    Curriculum,
    EcomEnv,
    EcomEnvError,
    RunError,
    ServerUnavailableError,
    UnauthorizedError,
)
from ecom_rlve.client.adapters.trl import TrlEnvironments, training_rows, trl_environments
from ecom_rlve.evaluation.local_server import local_server
from ecom_rlve.run_models import CurriculumParameters, RunSettings
from ecom_rlve.training.recipe import Recipe, RecipeError, load_recipe
from ecom_rlve.training.run_record import RunFolderError, RunRecord, begin, resumed
from ecom_rlve.training.scripted_trainer import ScriptedTrainer
from ecom_rlve.training.tiny_model import tiny_model, tiny_tokenizer
from ecom_rlve.training.trainer import MixedGroupsTrainer

_DRY_CATALOG = "synthetic:600:0"
"""Small, so that the server is up within seconds."""
_DRY: dict[str, Any] = {
    "model": "a tiny random Qwen3",
    "environments": "C1",
    "steps": 2,
    "prompts_per_step": 2,
    "group_size": 4,
    "rollouts_per_device": 4,
    "max_completion_tokens": 2048,
    "save_every": 1,
    "vllm": False,
    "bf16": False,
}
"""What a dry run changes in a recipe; losses, clips and filters are those of the recipe."""

_RETRY_FOR_S = 300
"""A server that is started again is waited for; with a journal it goes on with its live episodes."""
_OWN_TOKENS = 16
"""That a random model writes itself: it never ends a message."""


class RunRecordCallback(TrainerCallback):
    """Puts the run's record into every checkpoint."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record

    def on_save(self, args: Any, state: Any, *_: Any, **__: Any) -> None:
        """Write the record beside the weights."""
        if state.is_world_process_zero:
            self._record.write(Path(args.output_dir) / f"checkpoint-{state.global_step}")


def trl_config(recipe: Recipe, processes: int, *, cpu: bool = False) -> GRPOConfig:
    """Return TRL's own configuration of a recipe: DAPO's loss, over tokens, and one generation for each step."""
    loggers = ["tensorboard", *(["wandb"] if find_spec("wandb") else [])]
    return GRPOConfig(
        output_dir=recipe.output,
        max_steps=recipe.steps,
        per_device_train_batch_size=recipe.rollouts_per_device,
        gradient_accumulation_steps=recipe.accumulation(processes),
        num_generations=recipe.group_size,
        loss_type="dapo",
        scale_rewards="group",
        epsilon=recipe.clip_low,
        epsilon_high=recipe.clip_high,
        beta=recipe.kl,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type="constant",
        temperature=recipe.temperature,
        max_completion_length=recipe.max_completion_tokens,
        max_tool_calling_iterations=recipe.max_tool_rounds,
        # A cut rollout is finished and has a score of its own, so its tokens are kept in the loss.
        mask_truncated_completions=False,
        # Rows are in the order in which a run plays them, and a resumed one skips those it has played.
        shuffle_dataset=False,
        remove_unused_columns=False,
        logging_steps=1,
        save_steps=recipe.save_every,
        report_to=loggers,
        run_name=Path(recipe.output).name,
        seed=recipe.seed,
        use_vllm=recipe.vllm,
        vllm_mode="colocate",
        bf16=recipe.bf16,
        gradient_checkpointing=not cpu,
        generation_kwargs={"max_new_tokens": _OWN_TOKENS} if cpu else None,
        use_cpu=cpu,
    )


def make_trainer(
    record: RunRecord, recipe: Recipe, environments: TrlEnvironments, curriculum: Curriculum, *, dry: bool
) -> MixedGroupsTrainer:
    """Return the trainer of a run, and of a dry run the one whose model is scripted."""
    options: dict[str, Any] = {
        "args": trl_config(recipe, PartialState().num_processes, cpu=dry),
        "train_dataset": Dataset.from_list(training_rows(recipe.env_ids, recipe.prompts)),
        "environment_factory": dict(environments.factories),
        "redraws": recipe.redraws,
        "frontiers": lambda: frontiers(curriculum),
        "callbacks": [RunRecordCallback(record)],
    }
    if not dry:
        return MixedGroupsTrainer(model=recipe.model, **options)
    tokenizer = tiny_tokenizer(factory.tools for factory in environments.factories.values())
    model = tiny_model(tokenizer, recipe.seed)
    return ScriptedTrainer(model=model, processing_class=tokenizer, **options)


def frontiers(curriculum: Curriculum) -> dict[str, int]:
    """Return the run's frontiers by environment, empty while the server cannot be reached: they are for the log."""
    try:
        found = curriculum.read().frontiers
    except EcomEnvError:
        return {}
    return {each.env_id: each.level for each in found if (each.style, each.format) == ("tool", "strict")}


def prepare(curriculum: Curriculum, recipe: Recipe, *, resume: bool) -> None:
    """Make the run at the server, or free what a trainer that died was playing.

    Raises the client's :class:`RunError` if a run that is resumed is not there, and :class:`RunFolderError` if it is on
    another catalog, bank or version: its levels would mean something else.
    """
    if not resume:
        curriculum.put(RunSettings(parameters=CurriculumParameters(tau_num=recipe.tau_num)))
        return
    if not curriculum.read().is_playable:
        raise RunFolderError(
            f"{recipe.server} serves another catalog, bank or version than the run {curriculum.run_id} began with: "
            "serve what it began with, or fork it and begin a new run"
        )
    curriculum.delete_episodes()


def open_record(recipe: Recipe, checkpoint: Path | None, *, resume: bool) -> RunRecord:
    """Return the run's record; where there are several processes, only the first one makes it."""
    state = PartialState()
    if state.is_main_process and not resume:
        begin(recipe)
    state.wait_for_everyone()
    return resumed(recipe, checkpoint)


def run(recipe: Recipe, token: str | None, *, resume: bool, dry: bool) -> None:
    """Train, or go on with a run. Raises :class:`RunFolderError`, and what the client and TRL raise."""
    folder = Path(recipe.output)
    last = get_last_checkpoint(recipe.output) if resume and folder.is_dir() else None
    record = open_record(recipe, Path(last) if last else None, resume=resume)
    print(f"run {record.run_id}, {'from ' + last if last else 'from the start'}", flush=True)
    with ExitStack() as stack:
        curriculum = stack.enter_context(EcomEnv(recipe.server, token=token, retry_for=_RETRY_FOR_S)).curriculum(
            record.run_id
        )
        if PartialState().is_main_process:
            prepare(curriculum, recipe, resume=resume)
        environments = stack.enter_context(
            trl_environments(recipe.server, recipe.env_ids, run_id=record.run_id, token=token, retry_for=_RETRY_FOR_S)
        )
        trainer = make_trainer(record, recipe, environments, curriculum, dry=dry)
        trainer.train(resume_from_checkpoint=last)
        trainer.save_model(str(folder / "final"))
        record.write(folder / "final")


def main(
    config: Annotated[Path, typer.Option(help="The recipe, a YAML file.")],
    server: Annotated[str | None, typer.Option(help="URL of the server, instead of the recipe's.")] = None,
    output: Annotated[str | None, typer.Option(help="Folder of checkpoints and logs, instead of the recipe's.")] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run in the output folder.")] = False,
    token: Annotated[str | None, typer.Option(envvar="ECOM_RLVE_TOKEN", help="The server's bearer token.")] = None,
    dry_run: Annotated[bool, typer.Option(help="Two steps of a tiny model on CPU.")] = False,
) -> None:
    """Train a model on a server's environments by DAPO."""
    try:
        chosen = load_recipe(config).model_dump() | (_DRY if dry_run else {})
        recipe = Recipe.model_validate(chosen | ({"output": output} if output else {}))
        with ExitStack() as stack:
            url = server or (stack.enter_context(local_server("--catalog", _DRY_CATALOG)) if dry_run else recipe.server)
            run(recipe.model_copy(update={"server": url}), token, resume=resume, dry=dry_run)
    except (RecipeError, RunFolderError, RunError, ServerUnavailableError, UnauthorizedError) as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    typer.run(main)
