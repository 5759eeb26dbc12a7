"""Building a catalog folder from a source of any size, in bounded memory; a build that was killed can be continued.

There are five stages, and each leaves complete files or none. The rows are read into parts; duplicates and spellings
are decided over all parts; the columns are written, then the search index, then the manifest. A rename puts the folder
into place. Its bytes depend on the source and the options only, not on interruptions or the number of workers.
"""

from __future__ import annotations

import errno
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from ecom_rlve import __version__
from ecom_rlve.catalog.building.chunks import chunks_of
from ecom_rlve.catalog.building.folder import BuildFolder
from ecom_rlve.catalog.building.planning import Rules, planned
from ecom_rlve.catalog.building.reading import Progress, read_parts
from ecom_rlve.catalog.building.writing import written
from ecom_rlve.catalog.columns.aisles import write_aisles
from ecom_rlve.catalog.currency import checked_code
from ecom_rlve.catalog.errors import CatalogError, SourceError, StoreError
from ecom_rlve.catalog.rows.report import MAX_BAD
from ecom_rlve.catalog.search.search import Search
from ecom_rlve.catalog.store import AISLES, FORMAT, Provenance, StoredCatalog, open_store, write_manifest

CHUNK_ROWS = 20_000
"""Rows that are read at a time; this bounds the memory of each worker."""
INDEXES = ("auto", "flat", "ivf")
_LIBRARIES = ("faiss-cpu", "numpy", "scikit-learn", "scipy")
_REMEDIES = {
    errno.ENOSPC: "free some space and run the command again, it goes on where it stopped",
    errno.EDQUOT: "free some space and run the command again, it goes on where it stopped",
    errno.EROFS: "choose an --out on a disk that can be written",
    errno.EACCES: "choose an --out that you may write",
    errno.EPERM: "choose an --out that you may write",
}


def build_catalog(
    source_spec: str,
    out: Path,
    *,
    embedder: str = "local",
    index: str = "auto",
    limit: int | None = None,
    currency: str | None = None,
    mapping: Path | None = None,
    max_bad: float = MAX_BAD,
    workers: int = 1,
    progress: Progress = lambda _stage, _done, _total: None,
    chunk_rows: int = CHUNK_ROWS,
) -> StoredCatalog:
    """Build a catalog in the folder ``out`` and open it. An interrupted build of the same catalog is continued.

    Args:
        source_spec: name of the source of products.
        out: folder to make; an unfinished build lies beside it in ``<out>.building``.
        embedder: ``local`` or ``st:MODEL``.
        index: ``auto``, ``flat`` or ``ivf``.
        limit: the greatest number of rows to read.
        currency: code of the catalog's currency; None: the one that the rows state.
        mapping: a file that says which column is which field; None: the source is of a known shape.
        max_bad: the share of rows that may be unreadable; they are left out.
        workers: processes that read rows.
        progress: called with how far each stage is.
        chunk_rows: rows that are read at a time; a continued build must have the same.

    Raises :class:`SourceError` where the source cannot be read, :class:`CatalogError` for an unknown option, and
    :class:`StoreError` where ``out`` exists, cannot be written, or holds an unfinished build of something else.
    """
    _check_options(embedder, index)
    source, folder = chunks_of(source_spec, mapping), BuildFolder(out)
    rules = Rules(currency and checked_code(currency), source.currency, max_bad)
    options = {"format": FORMAT, "embedder": embedder, "index": index, "limit": limit, "chunk_rows": chunk_rows}
    options |= {"currency": rules.currency, "max_bad": max_bad}
    with _told(out):
        if folder.enter({"source": source.name, "identity": dict(source.identity), "versions": _versions(), **options}):
            with _refused(folder, source.name):
                parts = read_parts(
                    source, folder, chunk_rows=chunk_rows, limit=limit, workers=workers, progress=progress
                )
                plan = planned(parts, source.categories, folder, progress, rules)
            catalog = written(parts, plan, folder, progress)
            write_aisles(catalog, folder.store / AISLES)
            search = Search.write(
                catalog, folder.store, embedder=embedder, index=index, workers=workers, progress=progress
            )
            folder.sweep()
            facts = Provenance(source=source.name, limit=limit, versions=_versions(), search=search)
            write_manifest(folder.store, catalog, plan.report, facts)
            folder.publish()
        folder.tidy()
    return open_store(out)


def _check_options(embedder: str, index: str) -> None:
    """Raise :class:`CatalogError` now for options that would otherwise fail only after all rows were read."""
    if embedder != "local" and not (embedder.startswith("st:") and embedder != "st:"):
        raise CatalogError(f"{embedder!r} is no embedder; there are local and st:MODEL (sentence-transformers)")
    if index not in INDEXES:
        raise CatalogError(f"{index!r} is no index; there are {', '.join(INDEXES)}")


def _versions() -> dict[str, str]:
    """Return the versions of everything on which a catalog's bytes depend."""
    libraries = {name: version(name) for name in _LIBRARIES}
    return {"ecom-rlve": __version__, "python": platform.python_version(), **libraries}


@contextmanager
def _refused(folder: BuildFolder, name: str) -> Iterator[None]:
    """Let the next build of the same folder go ahead whatever it is, where this one's source is refused."""
    try:
        yield
    except SourceError as error:
        folder.refuse()
        raise error if name in str(error) else SourceError(f"{name}: {error}") from error


@contextmanager
def _told(out: Path) -> Iterator[None]:
    """Turn errors of the disk into one clear error."""
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "remove the cause and run the command again")
        where = error.filename or out
        raise StoreError(f"{where} cannot be written ({error.strerror or error}); {remedy}") from error
