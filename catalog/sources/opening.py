"""Opening a source by its name: its rows, or a catalog in memory."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.currency import checked_code
from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.rows.report import MAX_BAD, SourceReport
from ecom_rlve.catalog.rows.row import catalog_of
from ecom_rlve.catalog.sources.files.opened import head_of
from ecom_rlve.catalog.sources.huggingface import HubDataset
from ecom_rlve.catalog.sources.mapping.file import read_mapping
from ecom_rlve.catalog.sources.mapping.records import ArrowRecords, FileRecords, RecordSource
from ecom_rlve.catalog.sources.mapping.rows import MappedSource
from ecom_rlve.catalog.sources.parquet import MAGIC, Parquet
from ecom_rlve.catalog.sources.shops.recognition import file_source
from ecom_rlve.catalog.sources.source import RowSource
from ecom_rlve.catalog.synthetic.shelf import synthetic_catalog

ACCEPTED = (
    "synthetic, synthetic:SIZE, synthetic:SIZE:SEED, hf:NAME, hf:NAME:CONFIG@SPLIT, or the path of a file: Amazon "
    "metadata (.jsonl, .json, .parquet, also a folder of .parquet), a Google Merchant feed (.xml, .tsv, .csv), an "
    "export of Shopify (.csv, products.json) or WooCommerce (.csv), products of Best Buy (.json), any of them packed "
    "(.gz, .zip), or other rows with a mapping (--map)"
)
DEFAULT_SIZE = 10_000
DEFAULT_SEED = 0
_SYNTHETIC = re.compile(r"synthetic(?::(?P<size>\d{1,9})(?::(?P<seed>\d{1,18}))?)?", re.ASCII)
_HUB = re.compile(r"hf:(?P<name>[^:@]+)(?::(?P<config>[\w.-]+))?(?:@(?P<split>[\w.-]+))?")
_SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet", ".xml", ".tsv", ".csv", ".txt", ".gz", ".zip")


def open_catalog(
    source: str, *, currency: str | None = None, mapping: Path | None = None, max_bad: float = MAX_BAD
) -> tuple[Catalog, SourceReport]:
    """Return the catalog that ``source`` names, in memory, and how many of its rows were kept and dropped.

    Accepted are ``synthetic`` (10,000 products, seed 0), ``synthetic:SIZE``, ``synthetic:SIZE:SEED`` and whatever
    :func:`row_source` reads. ``currency`` is the code of the catalog's currency, None: the one that its rows state.
    ``max_bad`` is the share of rows that may be unreadable. Raises :class:`SourceError` for anything else.
    """
    synthetic = synthetic_spec(source)
    if synthetic:
        size, seed = synthetic
        return synthetic_catalog(size, seed), SourceReport(size, size)
    code = currency and checked_code(currency)
    rows = row_source(source, mapping)
    try:
        return catalog_of(rows.rows(0), currency=code, schema_currency=rows.currency, max_bad=max_bad)
    except SourceError as error:
        told = str(error)
        raise error if str(source) in told or rows.name in told else SourceError(f"{source}: {told}") from error


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


def row_source(spec: str, mapping: Path | None = None) -> RowSource:
    """Return the source of rows that ``spec`` names; only the beginning of a file is read yet.

    Accepted are ``hf:NAME[:CONFIG][@SPLIT]`` (a data set of the hub, or a local folder in its shape) and the path of a
    file, or a folder of Parquet files. What a file is, its content tells. ``mapping`` names a file that says which
    column is which field. Raises :class:`SourceError` for anything else, saying what it is or what may have been meant.
    """
    if synthetic_spec(spec):
        raise SourceError(f"{spec!r}: a synthetic catalog is made, not read from rows; give a file or a data set")
    if mapping is not None:
        return MappedSource(records_source(spec), read_mapping(mapping))
    hub = hub_parts(spec)
    if hub:
        return HubDataset(*hub)
    path = Path(spec)
    if spec and path.is_dir():
        return Parquet(path)
    if (spec and path.exists()) or path.suffix.casefold() in _SUFFIXES:
        return file_source(path)
    raise SourceError(f"{spec!r} is no source of products{_remedy(spec, path)}; accepted are {ACCEPTED}")


def records_source(spec: str) -> RecordSource:
    """Return the records of a file, a folder of Parquet files or a data set, whatever their columns are called.

    Raises :class:`SourceError` where there is no such file, or it has no records.
    """
    hub = hub_parts(spec)
    if hub:
        return ArrowRecords(HubDataset(*hub, as_they_are=True))
    path = Path(spec)
    if path.is_dir() or head_of(path).startswith(MAGIC):
        return ArrowRecords(Parquet(path, as_they_are=True))
    return FileRecords(path)


def hub_parts(spec: str) -> tuple[str, str | None, str | None] | None:
    """Return name, configuration and split of ``hf:NAME[:CONFIG][@SPLIT]``; None for any other source."""
    hub = _HUB.fullmatch(spec)
    return (hub["name"], hub["config"], hub["split"]) if hub else None


def _remedy(spec: str, path: Path) -> str:
    """Return what may have been meant, as the next part of the sentence; empty if nothing is similar."""
    suffix = path.suffix.casefold()
    near = get_close_matches(suffix, _SUFFIXES, 1) if suffix else []
    if near:
        return f", did you mean {near[0]}?"
    head, _, rest = spec.partition(":")
    near = get_close_matches(head.casefold(), ("synthetic", "hf", "huggingface"), 1)
    if near and (rest or near[0] == "synthetic"):
        kind = "hf" if near[0] == "huggingface" else near[0]
        return f", did you mean {':'.join(filter(None, (kind, rest)))}?" if f"{kind}:{rest}" != spec else ""
    return ", did you mean a data set of the hub, hf:" + spec + "?" if re.fullmatch(r"[\w.-]+/[\w.-]+", spec) else ""
