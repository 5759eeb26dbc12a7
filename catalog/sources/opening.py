"""From the name of a source to a catalog."""

from __future__ import annotations

import re
from pathlib import Path

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.sources.amazon import catalog_of
from ecom_rlve.catalog.sources.jsonl import rows_of_file
from ecom_rlve.catalog.sources.report import SourceReport
from ecom_rlve.catalog.synthetic import synthetic_catalog
from ecom_rlve.catalog.table import Catalog

ACCEPTED = "synthetic, synthetic:SIZE, synthetic:SIZE:SEED, or a path that ends in .jsonl or .jsonl.gz"
DEFAULT_SIZE = 10_000
DEFAULT_SEED = 0
_SYNTHETIC = re.compile(r"synthetic(?::(?P<size>\d{1,9})(?::(?P<seed>\d{1,18}))?)?", re.ASCII)


def open_catalog(source: str) -> tuple[Catalog, SourceReport]:
    """Return the catalog that ``source`` names, and what became of its rows.

    Accepted are ``synthetic`` (10,000 products, seed 0), ``synthetic:SIZE``, ``synthetic:SIZE:SEED`` and the path of
    a JSON-lines file of the Amazon-Reviews-2023 metadata shape. Raises :class:`SourceError` for anything else.
    """
    match = _SYNTHETIC.fullmatch(source)
    if match:
        size, seed = int(match["size"] or DEFAULT_SIZE), int(match["seed"] or DEFAULT_SEED)
        if not size:
            raise SourceError(f"{source!r}: a catalog needs at least one product")
        return synthetic_catalog(size, seed), SourceReport(size, size)
    if source.endswith((".jsonl", ".jsonl.gz")):
        return catalog_of(rows_of_file(Path(source)))
    raise SourceError(f"{source!r} is no source of products; accepted are {ACCEPTED}")
