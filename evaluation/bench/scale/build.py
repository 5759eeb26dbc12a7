"""Builds the procedural catalog that :mod:`ecom_rlve.evaluation.bench.scale` measures, in a process of its own.

python -m ecom_rlve.evaluation.bench.scale.build synthetic:2000000:0 STORE --workers 2
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ecom_rlve.catalog.build import build_catalog


def main(
    source: Annotated[str, typer.Argument(help="Name of the source.")],
    store: Annotated[Path, typer.Argument(help="Folder to make.")],
    workers: Annotated[int, typer.Option(min=1)] = 2,
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
