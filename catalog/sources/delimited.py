"""Records of CSV and TSV files, each with the number of its first line."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.sources.lines import MAX_LINE_BYTES, texts_of


class Record(NamedTuple):
    """One record below the header."""

    line: int
    """Number of its first line."""
    cells: dict[str, str]
    """Cells by the names of the header, stripped."""


def records_of(path: Path, delimiter: str, max_bytes: int = MAX_LINE_BYTES) -> Iterator[Record]:
    """Yield the records. A quoted cell may contain line ends. Blank lines are no records.

    Raises :class:`SourceError`, naming file and line, for bytes that are no UTF-8 text, broken quoting, a record with
    more or fewer cells than the header, and a line or a cell above ``max_bytes``.
    """
    # The limit on a cell is the process's and too low for the descriptions of some shops. It is never lowered here.
    csv.field_size_limit(max(csv.field_size_limit(), max_bytes))
    reader = csv.reader(_lines(path, max_bytes), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    at = 1
    try:
        for cells in reader:
            line, at = at, reader.line_num + 1
            if not any(map(str.strip, cells)):
                continue
            if header is None:
                header = [name.strip() for name in cells]
                continue
            if len(cells) != len(header):
                raise SourceError(
                    f"{path}, line {line}: {len(cells)} cells under a header of {len(header)}; "
                    f"the file may be cut off, or a cell holds a delimiter without being quoted: export it again"
                )
            yield Record(line, dict(zip(header, map(str.strip, cells), strict=True)))
    except csv.Error as error:
        raise SourceError(
            f"{path}, line {at}: broken quoting or a record cut off ({error}); "
            f"quote cells as CSV does and double the quotes inside, or export the file again"
        ) from error
    if header is None:
        raise SourceError(f"{path}: the file is empty; give a file with a header and one record per line")


def _lines(path: Path, max_bytes: int) -> Iterator[str]:
    for number, text in texts_of(path, max_bytes):
        if "\0" in text:
            raise SourceError(
                f"{path}, line {number}: holds a NUL byte, so it is no text in UTF-8; export the file again as UTF-8"
            )
        yield text
