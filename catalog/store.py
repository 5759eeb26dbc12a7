"""A built catalog as a folder, which is opened by mapping its files.

``manifest.json`` states format, fingerprint, source, counts and the size of each file. A build writes it last, then
renames the folder into place. ``table/`` holds the columns, ``aisles/`` the columns of numbers and codes in the order
of categories, ``search/`` the index. A folder is refused if any file is not as it was written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveInt, ValidationError

from ecom_rlve.catalog.columns.aisles import Aisles
from ecom_rlve.catalog.columns.array_store import whole_file
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.columns.table_files import open_table
from ecom_rlve.catalog.errors import CatalogError, IndexMismatchError, StoreError
from ecom_rlve.catalog.rows.report import DropReason, SourceReport
from ecom_rlve.catalog.search.search import Search

FORMAT = 2
"""Goes up when a folder of an earlier version can no longer be opened, or would be read differently."""
MANIFEST = "manifest.json"
TABLE = "table"
AISLES = "aisles"
BUILDING = ".building"
"""A catalog is built in a folder beside it whose name ends so."""


class FileFacts(BaseModel):
    """What a file must look like."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bytes: NonNegativeInt
    dtype: str | None = None
    """Type of the elements; only for an array."""
    shape: tuple[int, ...] | None = None
    """Shape; only for an array."""


class Rows(BaseModel):
    """How many rows of the source were kept and dropped."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    read: NonNegativeInt
    kept: PositiveInt
    dropped: Mapping[str, NonNegativeInt]
    """Dropped rows by the name of a :class:`DropReason`."""
    faults: tuple[str, ...] = ()
    """The first rows that could not be read."""


class Provenance(BaseModel):
    """How a catalog came about."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    limit: int | None
    """The greatest number of rows to read; None = all."""
    versions: Mapping[str, str]
    """Versions of everything on which the files depend."""
    search: Mapping[str, str | int | float]
    """Embedder, index and what was measured about them."""


class Manifest(Provenance):
    """The content of ``manifest.json``."""

    format: int
    fingerprint: str
    """Fingerprint of the catalog; the same products in memory have the same."""
    rows: Rows
    files: Mapping[str, FileFacts]
    """Files by their path in the folder, with ``/`` between names."""

    @property
    def report(self) -> SourceReport:
        """How many rows were kept and dropped; raises ``KeyError`` for reasons that this version does not know."""
        dropped = {DropReason[name]: count for name, count in self.rows.dropped.items()}
        return SourceReport(self.rows.read, self.rows.kept, dropped, self.rows.faults)


@dataclass(frozen=True)
class StoredCatalog:
    """An open catalog folder."""

    folder: Path
    catalog: Catalog
    report: SourceReport
    manifest: Manifest

    def aisles(self) -> Aisles:
        """Open the columns in the order of categories; raises :class:`StoreError` if they do not fit."""
        try:
            return Aisles.open(self.catalog, self.folder / AISLES)
        except CatalogError as error:
            raise StoreError(str(error)) from error

    def search(self) -> Search:
        """Open the index; raises :class:`StoreError` if it belongs to another catalog or holds no vectors."""
        try:
            return Search.open(self.catalog, self.folder)
        except IndexMismatchError as error:
            raise StoreError(f"{self.folder}: {error}; build the catalog again") from error


def building_folder(folder: Path) -> Path:
    """Return the folder in which the catalog ``folder`` is built."""
    return Path(f"{folder}{BUILDING}")


def is_store(source: str) -> bool:
    """Say whether a source's name is the folder of a catalog, finished or not, and no folder of files with rows."""
    path = Path(source)
    try:
        if path.is_dir():
            return (path / MANIFEST).exists() or not any(path.glob("*.parquet"))
        return not path.exists() and building_folder(path).is_dir()
    except OSError:
        return False


def open_store(folder: Path) -> StoredCatalog:
    """Open a catalog that ``ecom-rlve catalog build`` made.

    Files are mapped, not read. Raises :class:`StoreError` for a folder that is no catalog, is unfinished or of another
    format, and if a file is missing or does not have the size or header with which it was written.
    """
    manifest = _manifest(folder)
    for name, facts in manifest.files.items():
        _check_file(folder, name, facts)
    try:
        catalog = open_table(folder / TABLE, manifest.fingerprint)
        report = manifest.report
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{folder} is damaged ({error}); build the catalog again") from error
    if catalog.size != manifest.rows.kept:
        raise StoreError(f"{folder} holds {catalog.size} products, not {manifest.rows.kept}; build the catalog again")
    return StoredCatalog(folder, catalog, report, manifest)


def write_manifest(folder: Path, catalog: Catalog, report: SourceReport, facts: Provenance) -> None:
    """Return the manifest of a folder whose table and index are complete; raises ``OSError``."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    manifest = Manifest(
        **facts.model_dump(),
        format=FORMAT,
        fingerprint=catalog.fingerprint,
        rows=Rows(
            read=report.read,
            kept=report.kept,
            dropped={reason.name: count for reason, count in report.dropped.items()},
            faults=report.faults,
        ),
        files={name: _facts(folder / name) for name in names if name != MANIFEST},
    )
    text = json.dumps(manifest.model_dump(mode="json"), indent=1, sort_keys=True, ensure_ascii=False)
    with whole_file(folder / MANIFEST) as stream:
        stream.write(text.encode("utf-8", "replace"))


def _manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise StoreError(_absence(folder)) from None
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read ({error}); build the catalog again") from error
    found = content.get("format") if isinstance(content, dict) else None
    if not isinstance(found, int):
        raise StoreError(f"{path} is not the manifest of a catalog; give a folder made by `ecom-rlve catalog build`")
    if found != FORMAT:
        raise StoreError(
            f"{folder} has format {found}, this version reads format {FORMAT}; build the catalog again with this "
            "version, or serve it with the one that built it"
        )
    try:
        return Manifest.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise StoreError(f"{path} is damaged ({where}: {first['msg']}); build the catalog again") from error


def _absence(folder: Path) -> str:
    """Say why there is no manifest."""
    unfinished = folder if folder.name.endswith(BUILDING) else building_folder(folder)
    if unfinished.is_dir():
        return (
            f"{folder} is not finished: {unfinished} holds an interrupted build; "
            "run the same `ecom-rlve catalog build` again to go on with it"
        )
    if not folder.is_dir():
        return f"{folder} is no folder; make a catalog there with `ecom-rlve catalog build --out {folder}`"
    return f"{folder} is no catalog: it has no {MANIFEST}; give a folder made by `ecom-rlve catalog build`"


def _check_file(folder: Path, name: str, facts: FileFacts) -> None:
    path = folder / name
    try:
        size = path.stat().st_size
        if size != facts.bytes:
            how = "cut off" if size < facts.bytes else "longer than it was"
            raise StoreError(f"{path} is {how}: {size:,} bytes, not {facts.bytes:,}; build the catalog again")
        found = _facts(path)
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} is missing or cannot be read ({error}); build the catalog again") from error
    if found != facts:
        raise StoreError(
            f"{path} holds {found.dtype} of shape {found.shape}, not {facts.dtype} of shape {facts.shape}; "
            "build the catalog again"
        )


def _facts(path: Path) -> FileFacts:
    if path.suffix != ".npy":
        return FileFacts(bytes=path.stat().st_size)
    with path.open("rb") as stream:
        major, _ = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
    return FileFacts(bytes=path.stat().st_size, dtype=dtype.str, shape=shape)
