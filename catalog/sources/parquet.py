"""Parquet files as rows: one file, or all files of a folder in the order of their names."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, BinaryIO, cast

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.sources.arrow_rows import BATCH_ROWS, read_columns, rows_of_batch
from ecom_rlve.catalog.sources.files.opened import is_packed, opened, told, unreadable
from ecom_rlve.catalog.sources.jsonl import AMAZON_CURRENCY
from ecom_rlve.catalog.sources.source import identity_of

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

MAGIC = b"PAR1"
"""The first bytes of every Parquet file."""
_SPOOLED_BYTES = 64 * 2**20
INSTALL = "install it with: pip install 'ecom-rlve[data]'"


class Parquet:
    """A ``.parquet`` file, or a folder of them."""

    def __init__(self, path: Path, *, as_they_are: bool = False) -> None:
        """Name the file or folder; nothing is opened yet. ``as_they_are``: read columns of any names and types."""
        self._path = path
        self._as_they_are = as_they_are
        self.currency = None if as_they_are else AMAZON_CURRENCY

    @property
    def name(self) -> str:
        """Absolute path of the file or folder."""
        return str(self._path.absolute())

    @property
    def identity(self) -> Mapping[str, str | int]:
        """Sizes and times of last change."""
        return identity_of(self._files())

    def rows(self, start: int = 0) -> Iterator[Mapping[str, object]]:
        """Yield the rows from number ``start`` on; files and row groups before it are not read.

        Raises :class:`SourceError`, naming the file and the column or row, for a file that is no Parquet or broken, a
        missing column, a column of a wrong type, and where there are no rows at all.
        """
        at = 0
        for path in self._files():
            for group, size, file, columns in _groups(path, self._as_they_are):
                if at + size > start:
                    yield from _rows(path, file, group, columns, at, max(0, start - at))
                at += size
        if not at:
            raise SourceError(f"{self._path}: holds no rows; give a file with products")

    def _files(self) -> list[Path]:
        if not self._path.is_dir():
            return [self._path]
        files = sorted(path for path in self._path.iterdir() if path.suffix == ".parquet")
        if not files:
            raise SourceError(f"{self._path}: a folder without .parquet files; give the folder that holds them")
        return files


def _groups(path: Path, as_they_are: bool) -> Iterator[tuple[int, int, ParquetFile, list[str]]]:
    """Yield for every row group of a file its number, its rows, the open file, and the columns to read."""
    try:
        from pyarrow.lib import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise SourceError(f"{path}: reading Parquet needs pyarrow; {INSTALL}") from error

    with ExitStack() as stack:
        copy = stack.enter_context(_unpacked(path)) if is_packed(path) else None
        try:
            file = stack.enter_context(ParquetFile(copy or path))
        except ArrowException as error:
            raise SourceError(
                f"{path}: no Parquet file, or cut off ({_in_one_line(error)}); fetch the file again"
            ) from error
        except OSError as error:
            raise unreadable(path, error) from error
        columns = read_columns(file.schema_arrow, str(path), as_they_are=as_they_are)
        for group in range(file.num_row_groups):
            yield group, file.metadata.row_group(group).num_rows, file, columns


@contextmanager
def _unpacked(path: Path) -> Iterator[BinaryIO]:
    """Yield the content of a packed file in a temporary one, because Parquet is read from its end."""
    with SpooledTemporaryFile(_SPOOLED_BYTES) as copy:
        with told(path), closing(opened(path)) as file:
            shutil.copyfileobj(file, copy)
        copy.seek(0)
        yield cast(BinaryIO, copy)


def _rows(
    path: Path, file: ParquetFile, group: int, columns: list[str], first: int, skipped: int
) -> Iterator[Mapping[str, object]]:
    """Yield the rows of one row group, which begins at row ``first`` of the source, without the first ``skipped``."""
    from pyarrow.lib import ArrowException

    at = 0
    try:
        for batch in file.iter_batches(BATCH_ROWS, row_groups=[group], columns=columns):
            if at + batch.num_rows > skipped:
                yield from rows_of_batch(batch.slice(max(0, skipped - at)))
            at += batch.num_rows
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise SourceError(
            f"{path}, row group {group}, after row {first + at}: broken data ({_in_one_line(error)}); "
            f"fetch the file again"
        ) from error


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())
