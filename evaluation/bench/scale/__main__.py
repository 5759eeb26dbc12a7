"""``python -m ecom_rlve.evaluation.bench.scale``: what a catalog of two million products costs.

Builds the procedural catalog in a process of its own, opens it in worker processes like those of a server, and prints
Markdown: building, opening and memory; resets and whole episodes of every environment; searches without a filter, with
a broad filter and with selective ones, compared with FAISS alone on the same vectors; and each target with PASS or
FAIL. ``--store`` keeps what was built, and uses it again if it exists. Then it builds catalogs of dirty rows
(:mod:`.dirty`). It takes about a quarter of an hour on two cores; ``--part`` measures one of the two.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ecom_rlve.evaluation.bench.report import Target, target_table
from ecom_rlve.evaluation.bench.scale import dirty
from ecom_rlve.evaluation.bench.scale.build import built
from ecom_rlve.evaluation.bench.scale.memory import memory_of, total_of
from ecom_rlve.evaluation.bench.scale.report import (
    Build,
    Measured,
    Pair,
    catalog_table,
    environment_table,
    judged,
    search_table,
)
from ecom_rlve.evaluation.bench.scale.sample import EnvironmentSample, SearchSample, Spread, WorkerSample

_ONE_CORE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_OTHER_SEEDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a worker measures."""

    resets: int = 400
    """Of each environment."""
    searches: int = 200
    """Of each filter."""
    episodes: int = 60
    """Of each environment."""


QUICK = Counts(resets=8, searches=3, episodes=2)


@contextmanager
def worker(
    store: Path, counts: Counts, first_seed: int, *, compare: bool = False
) -> Iterator[tuple[int, WorkerSample]]:
    """Run a worker; yield its process id and what it measured, while it still has the catalog open."""
    options = {**{name: getattr(counts, name) for name in counts.__slots__}, "first-seed": first_seed}
    command = [sys.executable, "-P", "-m", "ecom_rlve.evaluation.bench.scale.worker", str(store)]
    command += [f"--{name}={value}" for name, value in options.items()] + ["--compare"] * compare
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=os.environ | _ONE_CORE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise subprocess.CalledProcessError(process.wait(), command)
        yield process.pid, _sample(line)
        process.stdin.close()


def _sample(line: str) -> WorkerSample:
    """Return a sample from its JSON."""
    data = json.loads(line)
    environments = [EnvironmentSample(**{**each, "reset": Spread(**each["reset"])}) for each in data["environments"]]
    searches = [
        SearchSample(**{**each, "step": Spread(**each["step"]), "raw": Spread(**each["raw"])})
        for each in data["searches"]
    ]
    return WorkerSample(**{**data, "environments": environments, "searches": searches})


def measure(store: Path, counts: Counts, build: Build | None, console: Console) -> Measured:
    """Measure with one worker, then measure the memory of two others, which do only what a server's worker does."""
    console.print("resets, episodes, searches …")
    with worker(store, counts, 0, compare=True) as (_, sample):
        pass
    console.print("memory of a worker, and of a second one …")
    with worker(store, counts, 0) as (first_id, _):
        alone = memory_of(first_id)
        with worker(store, counts, _OTHER_SEEDS) as (second_id, _):
            beside = memory_of(second_id)
            together = total_of([memory_of(first_id), beside])
    pair = None
    if alone is not None and beside is not None and together is not None:
        pair = Pair(alone, beside, together - alone.proportional)
    return Measured(build, sample, pair)


class Part(StrEnum):
    """What is measured."""

    PRODUCTS = "products"
    ROWS = "rows"
    BOTH = "both"


def main(
    products: Annotated[int, typer.Option(min=40)] = 2_000_000,
    rows: Annotated[int, typer.Option(min=400, help="Dirty rows of a shop.")] = 200_000,
    part: Annotated[Part, typer.Option(help="Only the made-up products, only the rows, or both.")] = Part.BOTH,
    store: Annotated[
        Path | None, typer.Option(help="Folder of the catalog of products; kept, and reused where it is there.")
    ] = None,
    quick: Annotated[bool, typer.Option(help="Short: shows that it runs, measures nothing.")] = False,
    strict: Annotated[bool, typer.Option(help="Exit 1 where a target is missed.")] = False,
) -> None:
    """Build, measure and print."""
    console = Console(stderr=True)
    tables: list[str] = []
    targets: list[Target] = []
    with tempfile.TemporaryDirectory(prefix="ecom-rlve-scale-") as room:
        if part is not Part.ROWS:
            run = _of_products(products, store or Path(room, "store"), QUICK if quick else Counts(), console)
            targets += judged(run)
            tables += [catalog_table(run), environment_table(run), search_table(run), target_table(judged(run))]
        if part is not Part.PRODUCTS:
            sizes = dirty.measured(rows, Path(room), console)
            targets += dirty.judged(sizes)
            tables += [dirty.table(sizes), target_table(dirty.judged(sizes))]
    print("\n\n".join(tables))
    raise typer.Exit(1 if strict and any(each.is_met is False for each in targets) else 0)


def _of_products(products: int, store: Path, counts: Counts, console: Console) -> Measured:
    build = None
    if not store.exists():
        console.print(f"building {products:,} products …")
        build = built(f"synthetic:{products}:0", store)
    return measure(store, counts, build, console)


if __name__ == "__main__":
    typer.run(main)
