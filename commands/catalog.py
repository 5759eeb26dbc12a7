"""``ecom-rlve catalog build | inspect``.

Annotations are not postponed here, because typer reads them. What a command needs is imported when it runs.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ecom_rlve.catalog.store import StoredCatalog

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


def catalog_app() -> typer.Typer:
    """Return the commands."""
    app = typer.Typer(help="Build and inspect catalogs of any size.", no_args_is_help=True)
    app.command()(build)
    app.command()(inspect)
    return app


def build(
    source: Annotated[
        str,
        typer.Option(help="Source of products: synthetic[:SIZE[:SEED]], hf:NAME[:SPLIT], or a file or folder of rows."),
    ],
    out: Annotated[Path, typer.Option(help="Folder to make.")],
    embedder: Annotated[str, typer.Option(help="local, or st:MODEL of sentence-transformers.")] = "local",
    index: Annotated[str, typer.Option(help="auto, flat (exact) or ivf (inverted file).")] = "auto",
    limit: Annotated[int | None, typer.Option(min=1, help="Most rows to read.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that read rows.")] = 1,
) -> None:
    """Build a catalog folder for `serve --catalog`. Run again after an interruption, it goes on where it stopped."""
    from ecom_rlve.catalog.build import build_catalog
    from ecom_rlve.catalog.store import building_folder
    from ecom_rlve.commands.progress import stage_bars

    with stage_bars() as progress:
        try:
            stored = build_catalog(
                source, out, embedder=embedder, index=index, limit=limit, workers=workers, progress=progress
            )
        except KeyboardInterrupt:
            print(
                f"interrupted; {building_folder(out)} keeps what is done, the same command goes on with it",
                file=sys.stderr,
            )
            raise typer.Exit(INTERRUPTED) from None
    _report(stored)


def inspect(
    catalog: Annotated[str, typer.Argument(help="Folder of a built catalog, or a source of products.")],
    examples: Annotated[int, typer.Option(min=0, max=100, help="Products to show.")] = 3,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a catalog holds, and which environments it can serve."""
    from ecom_rlve.commands.inspecting import inspected, show, show_json

    found = inspected(catalog, examples)
    if json:
        show_json(found)
    else:
        show(found)


def _report(stored: "StoredCatalog") -> None:
    for line in stored.report.describe():
        print(f"{stored.manifest.source}: {line}")
    megabytes = sum(facts.bytes for facts in stored.manifest.files.values()) / 1e6
    print(f"{stored.folder}: {stored.catalog.size:,} products, {megabytes:,.1f} MB, {stored.manifest.fingerprint}")
