"""What a source of rows is, and what identifies the content of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from ecom_rlve.catalog.sources.files.opened import unreadable
from ecom_rlve.catalog.sources.lines import MAX_LINE_BYTES


class RowSource(Protocol):
    """Rows of the Amazon-Reviews-2023 shape, always in the same order."""

    @property
    def name(self) -> str:
        """The canonical name, which opens the same source from any working folder."""

    @property
    def currency(self) -> str | None:
        """The currency of amounts of which no row states one; None where they could be of any."""

    @property
    def identity(self) -> Mapping[str, str | int]:
        """Changes when the rows may have changed: sizes and times of files, or a revision.

        Raises :class:`SourceError` where the source is not there.
        """

    def rows(self, start: int = 0) -> Iterator[Mapping[str, object]]:
        """Yield the rows from number ``start`` on, counted from 0; earlier ones are skipped cheaply where possible.

        A row that cannot be read is yielded as one that says so. Raises :class:`SourceError`, with file, line and
        remedy, where reading cannot go on.
        """


def identity_of(paths: Iterable[Path], folder: Path | None = None) -> dict[str, str | int]:
    """Return size and time of last change of every file, by its name or by its path inside ``folder``.

    Raises :class:`SourceError` for a file that is not there.
    """
    identity: dict[str, str | int] = {}
    for path in paths:
        try:
            status = path.stat()
        except OSError as error:
            raise unreadable(path, error) from error
        name = path.relative_to(folder).as_posix() if folder else path.name
        identity[name] = f"{status.st_size} bytes, changed at {status.st_mtime_ns} ns"
    return identity


class FileSource:
    """Base of all sources that are one file."""

    currency: str | None = None
    """The currency of amounts of which no row states one; None where they could be of any."""

    def __init__(self, path: Path, max_bytes: int = MAX_LINE_BYTES) -> None:
        """Name the file; nothing is opened yet. A line, or an item, of more than ``max_bytes`` is refused."""
        self._path = path
        self._max_bytes = max_bytes

    @property
    def name(self) -> str:
        """Absolute path of the file."""
        return str(self._path.absolute())

    @property
    def identity(self) -> Mapping[str, str | int]:
        """Size and time of last change; raises :class:`SourceError` where the file is not there."""
        return identity_of([self._path])
