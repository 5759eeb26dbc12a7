"""Read the real files, play the expert in every environment that each serves, and write the tables of ``catalog.md``.

The files are not in the repository: ``--data`` names their folder. Where it is not there, nothing is written.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer
from blocks import ROOT, rewrite, table

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.errors import CatalogError
from ecom_rlve.commands.serving import served
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import make_expert
from ecom_rlve.evaluation.in_process import play
from ecom_rlve.evaluation.relevance.judged import judged_catalogs, precisions
from ecom_rlve.models import Split

CATALOGS: Mapping[str, tuple[str, str | None]] = {
    "amazon2023_meta_fashion_500.jsonl": ("500 fashion products (Amazon Reviews 2023)", None),
    "google_merchant_groundies_us.xml": ("a shoe shop's feed", None),
    "shopify/apparel.csv": ("a clothes shop's export", "USD"),
    "shopify/home-and-garden.csv": ("a garden shop's export", "USD"),
    "shopify/jewelery.csv": ("a jeweller's export", "USD"),
    "bestbuy_categories.json": ("a tree of categories", None),
}
"""File: what it is, and its currency where its rows state none."""
DIFFICULTIES = (0, 3)
SPLITS: tuple[Split, ...] = ("train", "eval")
_NONE = "–"


def rows_of(name: str, path: Path, shop: Shop) -> list[str]:
    """Return what became of the rows of a file."""
    catalog, report = shop.catalog, shop.report
    assert report is not None, "a source is read with a report"
    dropped = "; ".join(f"{count:,} {why}" for why, count in report.dropped.items()) or "0"
    wanted = int(shop.kind_sizes.sum())
    kinds = f"{int((shop.kind_sizes > 0).sum())} ({wanted / catalog.size:.0%} of the products)"
    return [
        name, f"{report.read:,}", f"{report.kept:,}", dropped, kinds, f"{known_attributes(catalog):.2f}",
        precision_of(shop, path),
    ]  # fmt: skip


def known_attributes(catalog: Catalog) -> float:
    """Return how many typed attributes are known of a product, on average."""
    values = (catalog.column(name).values[:] for name in ATTRIBUTES)
    known = sum(int(((each == each) if each.dtype.kind == "f" else each >= 0).sum()) for each in values)
    return known / max(1, catalog.size)


def precision_of(shop: Shop, path: Path) -> str:
    """Return the precision at five of what is possible, where queries were judged for the file."""
    found = [each for each in judged_catalogs() if path.as_posix().endswith(each.catalog)]
    return f"{fmean(each.share for each in precisions(shop.search, found[0])):.3f}" if found else _NONE


def environments_of(name: str, shop: Shop, episodes: int) -> list[str]:
    """Return for every environment how far it is served, and the expert's success at each of the difficulties."""
    cells = [name]
    for env_id, each in served(shop).items():
        shares = [f"{success(shop, env_id, d, episodes):.2f}" for d in DIFFICULTIES if d <= each.max_difficulty]
        cells.append(" ".join([f"d ≤ {each.max_difficulty}:", *shares]) if shares else _NONE)
    return cells


def success(shop: Shop, env_id: str, d: int, episodes: int) -> float:
    """Return the share of episodes in which the expert is right, over half of them of each split."""
    specs = [EpisodeSpec(env_id, d, seed, split=split) for split in SPLITS for seed in range(episodes // len(SPLITS))]
    results = [play(Episode(shop, spec, f"{env_id}-{spec.seed}", disclose=True), make_expert(env_id)) for spec in specs]
    return fmean(result.is_correct for result in results)


def opened(data: Path, tell: Callable[[str], None]) -> Iterator[tuple[str, Path, Shop | None]]:
    """Yield every file with its shop; None for one that holds no products."""
    for file, (name, currency) in CATALOGS.items():
        tell(name)
        with tempfile.TemporaryDirectory(prefix="ecom-rlve-catalogs-") as cache:
            try:
                yield name, data / file, Shop.open(str(data / file), Path(cache), currency=currency)
            except CatalogError:
                yield name, data / file, None


def main(
    data: Annotated[Path, typer.Option(help="Folder of the real files.")] = ROOT / "../shared/data",
    episodes: Annotated[int, typer.Option(min=2, help="Of each environment and difficulty.")] = 40,
) -> None:
    """Measure and write."""
    missing = [file for file in CATALOGS if not (data / file).exists()]
    if missing:
        print(
            f"REAL DATA MISSING: {', '.join(missing)}; the tables of docs/catalog.md stay as they are", file=sys.stderr
        )
        return
    rows, environments, ids = [], [], [""]
    for name, path, shop in opened(data, lambda what: print(f"  {what} …", file=sys.stderr)):
        if shop is None:
            rows.append([name, *["refused: it holds no products"], *[_NONE] * 5])
            continue
        ids = list(served(shop))
        rows.append(rows_of(name, path, shop))
        environments.append(environments_of(name, shop, episodes))
    head = ("file", "rows read", "kept", "dropped", "kinds", "attributes known of a product", "precision at 5")
    rewrite(
        "docs/catalog.md",
        {"rows of real files": table(head, rows), "environments of real files": table(["file", *ids], environments)},
    )


if __name__ == "__main__":
    typer.run(main)
