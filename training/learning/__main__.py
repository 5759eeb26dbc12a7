"""``python -m ecom_rlve.training.learning``: train the small policy, judge it, run the controls, write the page."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ecom_rlve.evaluation.local_server import local_server
from ecom_rlve.training.learning.arena import TAU_NUM
from ecom_rlve.training.learning.experiments import ADAPTIVE, EPISODES, chance, controls, proof
from ecom_rlve.training.learning.kept import Kept
from ecom_rlve.training.learning.page import page, plots

_ANYWHERE = "http://127.0.0.1"
"""Stands for the server of runs that are over: which one it was does not matter."""


def main(
    env: Annotated[
        list[str] | None, typer.Option(help="Environments of the proof; absent: all that have skills.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Training runs of each environment.")] = 5,
    judged: Annotated[int, typer.Option(min=1, help="Held-out episodes of a cell.")] = 200,
    scale: Annotated[float, typer.Option(min=0.01, help="Share of the usual episodes that a run trains on.")] = 1.0,
    workers: Annotated[int, typer.Option(min=1, help="Processes that train and judge.")] = 2,
    server: Annotated[bool, typer.Option(help="Train the proof on a server over HTTP; else in process.")] = True,
    with_controls: Annotated[bool, typer.Option("--controls/--no-controls", help="Run the controls.")] = True,
    runs: Annotated[
        bool, typer.Option("--run/--no-run", help="Run what is missing; else show the runs that are kept.")
    ] = True,
    kept: Annotated[Path, typer.Option(help="Where finished runs are kept, so that they are not run again.")] = Path(
        "build/learning"
    ),
    folder: Annotated[Path, typer.Option(help="Where the page and its plots are written.")] = Path("docs"),
) -> None:
    """Show that a small policy learns, and write learning.md with its plots."""
    chosen = [each.upper() for each in env or EPISODES]
    if unknown := sorted({*chosen} - {*EPISODES}):
        raise typer.BadParameter(f"no skills for {', '.join(unknown)}; there are some for {', '.join(EPISODES)}")
    if not folder.is_dir():
        raise typer.BadParameter(f"there is no folder {folder} to write the page into")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with ExitStack() as stack:
        url = stack.enter_context(local_server()) if server and runs else _ANYWHERE if server else None
        jobs = proof(chosen, seeds, judged, url, scale) + (controls(seeds, judged, scale) if with_controls else [])
        progress = stack.enter_context(Progress(*columns, console=Console(stderr=True)))
        outcomes = Kept(kept).outcomes(jobs, workers) if runs else Kept(kept).of(jobs)
        found = list(progress.track(outcomes, total=len(jobs), description="runs"))
    if not any(each.job.name == ADAPTIVE for each in found):
        raise typer.BadParameter(
            f"no run of the proof is kept in {kept} by this version of the code: leave out --no-run"
        )
    text = page(found, chance(judged), judged, TAU_NUM)
    (folder / "learning.md").write_text(text, encoding="utf-8")
    for name, plot in plots(found).items():
        (folder / name).write_text(plot, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    typer.run(main)
