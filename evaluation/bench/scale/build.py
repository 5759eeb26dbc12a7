"""Builds the catalogs that :mod:`ecom_rlve.evaluation.bench.scale` measures, in a process of their own.

python -m ecom_rlve.evaluation.bench.scale.build synthetic:2000000:0 STORE --workers 2
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from ecom_rlve.catalog.build import build_catalog
from ecom_rlve.evaluation.bench.scale.memory import PeakMemory
from ecom_rlve.evaluation.bench.scale.report import Build

CORES = 2
"""Processes that read."""


def built(source: str, store: Path) -> Build:
    """Build a catalog in a process of its own and return what that took.

    Raises ``CalledProcessError`` where it fails; why, it has printed.
    """
    command = [sys.executable, "-P", "-m", "ecom_rlve.evaluation.bench.scale.build", source, str(store)]
    start, cpu = time.perf_counter(), _cpu_of_children()
    with subprocess.Popen([*command, f"--workers={CORES}"]) as process, PeakMemory(process.pid) as peak:
        status = process.wait()
    if status:
        raise subprocess.CalledProcessError(status, command)
    return Build(time.perf_counter() - start, peak.mib, _cpu_of_children() - cpu)


def _cpu_of_children() -> float:
    """Return the CPU seconds of all processes that this one, or one of them, has started and seen end."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(
    source: Annotated[str, typer.Argument(help="Name of the source.")],
    store: Annotated[Path, typer.Argument(help="Folder to make.")],
    workers: Annotated[int, typer.Option(min=1)] = CORES,
) -> None:
    """Build; prints the stages to standard error."""
    shown = ""

    def tell(stage: str, _done: int, _total: int) -> None:
        nonlocal shown
        if stage != shown:
            typer.echo(f"  {stage} …", err=True)
            shown = stage

    build_catalog(source, store, workers=workers, progress=tell)


if __name__ == "__main__":
    typer.run(main)
