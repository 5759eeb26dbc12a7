"""Opening a source by its name: its rows, or a catalog in memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.rows.report import SourceReport
from ecom_rlve.catalog.rows.row import catalog_of
from ecom_rlve.catalog.sources.huggingface import HubDataset
from ecom_rlve.catalog.sources.jsonl import JsonLines
from ecom_rlve.catalog.sources.merchant_feed import MerchantFeed
from ecom_rlve.catalog.sources.parquet import Parquet
from ecom_rlve.catalog.sources.shopify import ShopifyExport
from ecom_rlve.catalog.sources.source import RowSource
from ecom_rlve.catalog.synthetic.shelf import synthetic_catalog

ACCEPTED = (
    "synthetic, synthetic:SIZE, synthetic:SIZE:SEED, hf:NAME, hf:NAME:SPLIT, or a path that ends in .jsonl, "
    ".jsonl.gz or .parquet (Amazon-Reviews-2023 rows; also a folder of .parquet), in .xml or .tsv (a Google Merchant "
    "feed) or in .csv (a Shopify product export)"
)
DEFAULT_SIZE = 10_000
DEFAULT_SEED = 0
_SYNTHETIC = re.compile(r"synthetic(?::(?P<size>\d{1,9})(?::(?P<seed>\d{1,18}))?)?", re.ASCII)
_HUB = re.compile(r"hf:(?P<name>[^:]+)(?::(?P<split>[\w.-]+))?")
_FILES: dict[str, Callable[[Path], RowSource]] = {
    ".jsonl": JsonLines,
    ".jsonl.gz": JsonLines,
    ".parquet": Parquet,
    ".xml": MerchantFeed,
    ".tsv": MerchantFeed,
    ".csv": ShopifyExport,
}
_MEANT = {
    ".json": ".jsonl, one JSON object per line",
    ".ndjson": ".jsonl: rename the file",
    ".txt": ".tsv: rename the file",
    ".pq": ".parquet: rename the file",
    ".gz": "a plain file: decompress it",
    ".zip": "a plain file: decompress it",
}
_HEAD = 4096
_CATEGORY_TREE = b'"subCategories"'


def open_catalog(source: str) -> tuple[Catalog, SourceReport]:
    """Return the catalog that ``source`` names, in memory, and how many of its rows were kept and dropped.

    Accepted are ``synthetic`` (10,000 products, seed 0), ``synthetic:SIZE``, ``synthetic:SIZE:SEED`` and whatever
    :func:`row_source` reads. Raises :class:`SourceError` for anything else.
    """
    synthetic = synthetic_spec(source)
    if synthetic:
        size, seed = synthetic
        return synthetic_catalog(size, seed), SourceReport(size, size)
    return catalog_of(row_source(source).rows(0))


def synthetic_spec(source: str) -> tuple[int, int] | None:
    """Return size and seed of ``synthetic[:SIZE[:SEED]]``; None for any other source.

    Raises :class:`SourceError` for a catalog without products.
    """
    match = _SYNTHETIC.fullmatch(source)
    if not match:
        return None
    size, seed = int(match["size"] or DEFAULT_SIZE), int(match["seed"] or DEFAULT_SEED)
    if not size:
        raise SourceError(f"{source!r}: a catalog needs at least one product")
    return size, seed


def row_source(spec: str) -> RowSource:
    """Return the source of rows that ``spec`` names; nothing of it is read yet.

    Accepted are ``hf:NAME[:SPLIT]`` (a data set of the hub, or a local folder in its shape), the path of a JSON-lines
    file, a Parquet file or a folder of them (all of the Amazon-Reviews-2023 metadata shape), a Google Merchant feed and
    a Shopify product export. Raises :class:`SourceError` for anything else, saying what may have been meant.
    """
    if synthetic_spec(spec):
        raise SourceError(f"{spec!r}: a synthetic catalog is made, not read from rows; give a file or a data set")
    hub = _HUB.fullmatch(spec)
    if hub:
        return HubDataset(hub["name"], hub["split"])
    path = Path(spec)
    suffix = _suffix(path)
    if suffix in _FILES:
        return _FILES[suffix](path)
    if spec and path.is_dir():
        return Parquet(path)
    raise SourceError(f"{spec!r} is no source of products{_remedy(spec, path)}; accepted are {ACCEPTED}")


def _suffix(path: Path) -> str:
    name = path.name.casefold()
    return ".jsonl.gz" if name.endswith(".jsonl.gz") else path.suffix.casefold()


def _remedy(spec: str, path: Path) -> str:
    """Return what may have been meant, as the next part of the sentence; empty if nothing is similar."""
    if path.suffix == ".json" and _is_category_tree(path):
        return ": it holds a tree of categories, give a file with the products themselves"
    suffix = _suffix(path)
    if suffix in _MEANT:
        return f", did you mean {_MEANT[suffix]}?"
    near = get_close_matches(suffix, _FILES, 1) if suffix else []
    if near:
        return f", did you mean {near[0]}?"
    head, _, rest = spec.partition(":")
    near = get_close_matches(head.casefold(), ("synthetic", "hf", "huggingface"), 1)
    if near and (rest or near[0] == "synthetic"):
        kind = "hf" if near[0] == "huggingface" else near[0]
        return f", did you mean {':'.join(filter(None, (kind, rest)))}?" if f"{kind}:{rest}" != spec else ""
    return ", did you mean a data set of the hub, hf:" + spec + "?" if re.fullmatch(r"[\w.-]+/[\w.-]+", spec) else ""


def _is_category_tree(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _CATEGORY_TREE in file.read(_HEAD)
    except OSError:
        return False
