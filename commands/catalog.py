"""``ecom-rlve catalog build | inspect | map``.

Annotations are not postponed here, because typer reads them. What a command needs is imported when it runs.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ecom_rlve.catalog.store import StoredCatalog

MAX_BAD = 0.01
"""The share of rows that may be unreadable, unless told otherwise: that of the catalog, which loads too much here."""
_CURRENCY = "Code of the catalog's currency, such as EUR, where no row states it or several do."
_MAP = "TOML file that says which column is which field; `catalog map` writes one to begin with."
_MAX_BAD = "Share of rows that may be unreadable; they are listed and left out."
INTERRUPTED = 130
"""Exit status after Ctrl-C."""


def catalog_app() -> typer.Typer:
    """Return the commands."""
    app = typer.Typer(help="Build and inspect catalogs of any size.", no_args_is_help=True)
    app.command()(build)
    app.command()(inspect)
    app.command("map")(propose_map)
    return app


def build(
    source: Annotated[
        str,
        typer.Option(help="Source of products: synthetic[:SIZE[:SEED]], hf:NAME[:CONFIG][@SPLIT], or a file."),
    ],
    out: Annotated[Path, typer.Option(help="Folder to make.")],
    embedder: Annotated[str, typer.Option(help="local, or st:MODEL of sentence-transformers.")] = "local",
    index: Annotated[str, typer.Option(help="auto, flat (exact) or ivf (inverted file).")] = "auto",
    limit: Annotated[int | None, typer.Option(min=1, help="Most rows to read.")] = None,
    currency: Annotated[str | None, typer.Option(help=_CURRENCY)] = None,
    mapping: Annotated[Path | None, typer.Option("--map", help=_MAP)] = None,
    max_bad: Annotated[float, typer.Option(min=0, max=1, help=_MAX_BAD)] = MAX_BAD,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that read rows.")] = 1,
) -> None:
    """Build a catalog folder for `serve --catalog`. Run again after an interruption, it goes on where it stopped."""
    from ecom_rlve.catalog.build import build_catalog
    from ecom_rlve.catalog.store import building_folder
    from ecom_rlve.commands.progress import stage_bars

    with stage_bars() as progress:
        try:
            stored = build_catalog(
                source,
                out,
                embedder=embedder,
                index=index,
                limit=limit,
                currency=currency,
                mapping=mapping,
                max_bad=max_bad,
                workers=workers,
                progress=progress,
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
    currency: Annotated[str | None, typer.Option(help=_CURRENCY)] = None,
    mapping: Annotated[Path | None, typer.Option("--map", help=_MAP)] = None,
    max_bad: Annotated[float, typer.Option(min=0, max=1, help=_MAX_BAD)] = MAX_BAD,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a catalog holds, and which environments it can serve."""
    from ecom_rlve.commands.inspecting import inspected, show, show_json

    found = inspected(catalog, examples, currency=currency, mapping=mapping, max_bad=max_bad)
    if json:
        show_json(found)
    else:
        show(found)


def propose_map(
    source: Annotated[str, typer.Argument(help="A table, a JSON file, Parquet, or hf:NAME[:CONFIG][@SPLIT].")],
) -> None:
    """Print a mapping to begin with, from the names of the columns and twenty rows. Look through it, then build."""
    from ecom_rlve.catalog.sources.mapping.proposal import proposed_mapping
    from ecom_rlve.catalog.sources.opening import records_source

    print(proposed_mapping(records_source(source)), end="")


def _report(stored: "StoredCatalog") -> None:
    for line in stored.report.describe():
        print(f"{stored.manifest.source}: {line}")
    megabytes = sum(facts.bytes for facts in stored.manifest.files.values()) / 1e6
    print(f"{stored.folder}: {stored.catalog.size:,} products, {megabytes:,.1f} MB, {stored.manifest.fingerprint}")
