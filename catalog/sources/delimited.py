"""Records of CSV and TSV files, each with the number of its first line. The header tells the delimiter."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.sources.files.decoding import fault_of
from ecom_rlve.catalog.sources.lines import MAX_LINE_BYTES, texts_of

DELIMITERS = (",", ";", "\t", "|")
_HINT = "sep="
"""A first line with which spreadsheets say what the delimiter is."""
_REMEDY = "quote cells as CSV does and double the quotes inside, or export the file again"


class Record(NamedTuple):
    """One record below the header."""

    line: int
    """Number of its first line."""
    cells: dict[str, str]
    """Cells by the names of the header, stripped; empty for a record that cannot be read."""
    fault: str = ""
    """Why the record cannot be read, with the remedy; empty if it can."""


def records_of(path: Path, delimiter: str | None = None, max_bytes: int = MAX_LINE_BYTES) -> Iterator[Record]:
    """Yield the records. A quoted cell may contain line ends. Blank lines are no records.

    A record with broken quoting, a wrong number of cells or bytes that are no text is yielded with its fault, and
    reading goes on at the next line. ``delimiter`` None: the one that cuts the header into most cells.
    Raises :class:`SourceError`, naming file and line, for a file without a header, one that cannot be read to its end,
    and a line above ``max_bytes``.
    """
    lines, header, found = _opened(path, delimiter, max_bytes)
    while lines.begin():
        record = _record(lines, found, header)
        if record is not None:
            yield record


def _opened(path: Path, delimiter: str | None, max_bytes: int) -> tuple[_Lines, list[str], str]:
    """Return the lines after the header, the names of the columns, and the delimiter."""
    # The limit on a cell is the process's and too low for the descriptions of some shops. It is never lowered here.
    csv.field_size_limit(max(csv.field_size_limit(), max_bytes))
    lines = _Lines(texts_of(path, max_bytes), max_bytes)
    while lines.begin():
        found = lines.hinted() or delimiter or delimiter_of(lines.peek())
        record = _record(lines, found, None)
        if record is not None and record.fault:
            raise SourceError(f"{path}, line {record.line}: {record.fault}")
        if record is not None:
            return lines, list(record.cells), found
    raise SourceError(f"{path}: the file is empty; give a file with a header and one record per line")


def delimiter_of(header: str) -> str:
    """Return the delimiter that cuts a header into most cells.

    >>> delimiter_of('"Handle; old";Title;Price, net')
    ';'
    """
    plain = _plain(header)
    return max(DELIMITERS, key=lambda delimiter: len(next(csv.reader([plain], delimiter=delimiter), [])))


def header_of(path: Path, max_bytes: int = MAX_LINE_BYTES) -> list[str]:
    """Return the names of the columns; raises :class:`SourceError` as :func:`records_of`."""
    return _opened(path, None, max_bytes)[1]


class _Lines:
    """Lines that can be given back, because a quote that was never closed swallows the lines after it."""

    def __init__(self, lines: Iterable[tuple[int, str]], max_bytes: int) -> None:
        self._source = iter(lines)
        self._waiting: deque[tuple[int, str]] = deque()
        self._taken: list[tuple[int, str]] = []
        self._room = max_bytes

    def begin(self) -> bool:
        """Begin a record; False at the end of the file."""
        self._taken = []
        if not self._waiting:
            self._waiting.extend([line] if (line := next(self._source, None)) else [])
        return bool(self._waiting)

    def peek(self) -> str:
        """Return the next line."""
        return self._waiting[0][1]

    def hinted(self) -> str | None:
        """Take a first line that only names the delimiter, and return that."""
        line = self.peek().strip("\r\n").casefold()
        if not line.startswith(_HINT) or len(line) != len(_HINT) + 1:
            return None
        self._waiting.popleft()
        self.begin()
        return line[-1]

    @property
    def first(self) -> int:
        """The number of the record's first line."""
        return self._taken[0][0]

    @property
    def fault(self) -> str | None:
        """What is wrong with the characters of the record's lines."""
        return next(filter(None, (fault_of(text) for _, text in self._taken)), None)

    @property
    def count(self) -> int:
        """Lines that the record has taken."""
        return len(self._taken)

    def give_back(self) -> None:
        """Give back all lines of the record but its first."""
        self._waiting.extendleft(reversed(self._taken[1:]))

    def __iter__(self) -> Iterator[str]:
        size = 0
        while True:
            line = self._waiting.popleft() if self._waiting else next(self._source, None)
            if line is None:
                return
            self._taken.append(line)
            size += len(line[1])
            if size > self._room and len(self._taken) > 1:
                raise csv.Error("a cell without end")
            yield _plain(line[1])


def _plain(line: str) -> str:
    """Return a line without the characters that the reader of CSV takes for ends of lines or refuses."""
    return line.rstrip("\r\n").replace("\r", " ").replace("\0", " ") + "\n"


def _record(lines: _Lines, delimiter: str, header: list[str] | None) -> Record | None:
    """Read the record that begins; None for a blank line."""
    try:
        cells = next(csv.reader(lines, delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        lines.give_back()
        return Record(lines.first, {}, f"broken quoting or a record cut off ({error}); {_REMEDY}")
    fault = lines.fault
    if fault:
        return Record(lines.first, {}, fault)
    if not any(map(str.strip, cells)):
        return None
    if header is None:
        return Record(lines.first, dict.fromkeys(_names(cells), ""))
    while len(cells) > len(header) and not cells[-1].strip():
        cells.pop()
    if len(cells) != len(header):
        lines.give_back()
        return Record(
            lines.first,
            {},
            f"{len(cells)} cells under a header of {len(header)}; "
            f"the file may be cut off, or a cell holds a delimiter without being quoted: export it again",
        )
    return Record(lines.first, dict(zip(header, map(str.strip, cells), strict=True)))


def _names(cells: list[str]) -> list[str]:
    """Return names of columns that are all different: a second "Size" becomes "Size (2)"."""
    names: list[str] = []
    while cells and not cells[-1].strip():
        cells.pop()
    for cell in cells:
        name, count = cell.strip(), 2
        while name in names:
            name, count = f"{cell.strip()} ({count})", count + 1
        names.append(name)
    return names
