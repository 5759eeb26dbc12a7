"""The lines of a text file, plain or gzipped, read with bounded memory. Every error names file and line."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from ecom_rlve.catalog.errors import SourceError

MAX_LINE_BYTES = 16 * 2**20
"""Longest line that is read. A product takes some kilobytes; a longer line is no product and could fill the memory."""


def lines_of(path: Path, max_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with their numbers from 1, ends included.

    Raises :class:`SourceError` for a file that cannot be read to its end and for a line above ``max_bytes``.
    """
    number = 0
    try:
        with _opened(path) as file:
            while line := file.readline(max_bytes + 1):
                number += 1
                if len(line) > max_bytes:
                    raise SourceError(
                        f"{path}, line {number}: longer than {max_bytes:,} bytes; "
                        f"give a file with one product per line, or leave that line out"
                    )
                yield number, line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SourceError(
            f"{path}, line {number + 1}: the gzip data is broken or cut off ({error}); fetch the file again"
        ) from error
    except OSError as error:
        raise unreadable(path, error) from error


def texts_of(path: Path, max_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, str]]:
    """Yield the lines as :func:`lines_of`, decoded; a byte order mark is left out.

    Raises :class:`SourceError` as there, and for a line that is not UTF-8.
    """
    for number, line in lines_of(path, max_bytes):
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise SourceError(
                f"{path}, line {number}: byte {error.start + 1} is not UTF-8 ({error.reason}); "
                f"convert the file to UTF-8"
            ) from error


def unreadable(path: Path, error: OSError) -> SourceError:
    """Return the error for a file that the system does not let us read."""
    return SourceError(f"{path}: cannot be read ({error.strerror or error}); check the path")


def _opened(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb")) if path.name.endswith(".gz") else path.open("rb")
