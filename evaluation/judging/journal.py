"""A file of JSON lines to which lines are only ever added, each of them whole or not at all.

A line counts once its line feed is on the disk. What a killed process left behind the last one is cut off when the file
is opened again. One process writes at a time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from ecom_rlve.evaluation.judging.errors import OutputError

if sys.platform != "win32":
    import fcntl

_BLOCK = 1 << 16


class Journal:
    """One such file, open for writing."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it, and drop a torn last line.

        Raises :class:`OutputError` where that cannot be done, or another process has it open.
        """
        self.path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {error.strerror}") from error
        try:
            self._lock()
            self._size = _end_of_lines(self._file)
            self.torn = os.fstat(self._file).st_size - self._size
            """Bytes of a torn line that were dropped."""
            os.ftruncate(self._file, self._size)
        except BaseException:
            os.close(self._file)
            raise

    def _lock(self) -> None:
        if sys.platform != "win32":
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise OutputError(f"another run is writing to {self.path}") from error

    def append(self, line: str) -> None:
        """Add a line, and return when it is on the disk.

        Raises :class:`OutputError` if it cannot be: then the file ends with the line before.
        """
        data = line.encode() + b"\n"
        try:
            if not os.path.samestat(os.fstat(self._file), os.stat(self.path)):
                raise OutputError(f"{self.path} was replaced while the run went on")
            _write(self._file, data)
            os.fsync(self._file)
        except FileNotFoundError:
            raise OutputError(f"{self.path} was deleted while the run went on") from None
        except OSError as error:
            os.ftruncate(self._file, self._size)
            raise OutputError(f"{self.path} cannot be written: {error.strerror}; what it holds is intact") from error
        self._size += len(data)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def __enter__(self) -> Self:
        """Return the journal; leaving the block closes it."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close it."""
        self.close()


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader finds the old one or the new one, never a part; raises :class:`OutputError`."""
    beside = path.with_name(f".{path.name}.new")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from error


def whole_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number of each line, from 1, and its text; a torn last line is left out."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.endswith(b"\n"):
                yield number, line[:-1].decode("utf-8", "replace")


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _end_of_lines(file: int) -> int:
    """Return the number of bytes up to the last line feed."""
    end = os.fstat(file).st_size
    while end:
        start = max(0, end - _BLOCK)
        os.lseek(file, start, os.SEEK_SET)
        found = os.read(file, end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
