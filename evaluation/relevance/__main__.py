"""``python -m ecom_rlve.evaluation.relevance``: how good the search is, in two tables.

The first has the precision at five on judged queries: as a share of what is possible, and plainly over the queries for
which five relevant products are known; beside it, how many of the products shown nobody graded. The second has the
recall at fifty of what customers want. Real files that are not in the folder of the data are left out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer
from rich.console import Console

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.search.search import Search
from ecom_rlve.catalog.sources import open_catalog
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.relevance.judged import FIRST, SYNTHETIC, Precision, judged_catalogs, precisions
from ecom_rlve.evaluation.relevance.known_items import TARGETS, hits


@contextmanager
def _searched(catalog: Catalog, embedder: str) -> Iterator[Search]:
    with tempfile.TemporaryDirectory(prefix="ecom-rlve-relevance-") as room:
        Search.write(catalog, Path(room), embedder=embedder)
        yield Search.open(catalog, Path(room))


def _row(name: str, found: list[Precision]) -> str:
    plain = [each for each in found if each.possible == FIRST]
    shown = f"{fmean(each.share for each in plain):.3f} ({len(plain)})" if plain else "–"
    ungraded = sum(len(each.ungraded) for each in found)
    return f"| {name} | {len(found)} | {fmean(each.share for each in found):.3f} | {shown} | {ungraded} |"


def _ungraded(catalog: Catalog, found: list[Precision]) -> Iterator[str]:
    """Yield a line for each product shown that nobody graded."""
    rows = {product_id: row for row, product_id in enumerate(catalog.ids)}
    for each in found:
        for product_id in each.ungraded:
            yield f"{each.query}: {product_id} {catalog.titles[rows[product_id]]}"


def main(
    data: Annotated[Path, typer.Option(help="Folder of the real files.")] = Path("../shared/data"),
    embedder: Annotated[str, typer.Option(help="local or st:MODEL")] = "local",
    catalog: Annotated[str | None, typer.Option(help="Only this one of the judged catalogs.")] = None,
    episodes: Annotated[int, typer.Option(min=0, help="Of each environment; 0 leaves the second table out.")] = 200,
    misses: Annotated[bool, typer.Option(help="Name the queries with irrelevant results.")] = False,
    ungraded: Annotated[bool, typer.Option(help="Name the products shown that are to be graded.")] = False,
) -> None:
    """Measure and print."""
    console = Console(stderr=True)
    every: list[Precision] = []
    print("| catalog | queries | precision at 5, of what is possible | where 5 are known | shown and not graded |")
    print("|---|---:|---:|---:|---:|")
    for judged in judged_catalogs():
        source = judged.source(data)
        if catalog not in (None, judged.catalog):
            continue
        if judged.catalog != SYNTHETIC and not Path(source).exists():
            console.print(f"{source} is not there and is left out")
            continue
        with _searched(open_catalog(source, currency=judged.currency)[0], embedder) as search:
            found = list(precisions(search, judged))
            to_grade = list(_ungraded(search.catalog, found)) if ungraded else []
        print(_row(judged.catalog, found), flush=True)
        for line in to_grade:
            console.print(line, markup=False, highlight=False)
        every += found
    if every:
        print(_row("all", every))
    for each in every if misses else ():
        if each.found < each.possible:
            console.print(f"{each.found} of {each.possible}: {each.query}")
    if episodes:
        shop = Shop.open(SYNTHETIC)
        print("\n| environment | wanted | recall at 50 |\n|---|---:|---:|")
        for env_id in TARGETS:
            seen = list(hits(shop, env_id, episodes))
            print(f"| {env_id} | {len(seen)} | {fmean(seen):.3f} |", flush=True)


if __name__ == "__main__":
    typer.run(main)
