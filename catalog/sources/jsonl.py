"""JSON-lines files, plain or gzipped, as rows. A file that is broken anywhere is refused and becomes no catalog."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from ecom_rlve.catalog.errors import SourceError


def rows_of_file(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a ``.jsonl`` or ``.jsonl.gz`` file line by line; blank lines are no rows.

    Raises :class:`SourceError`, naming file and line, for a line that is not a JSON object in UTF-8, for a file that
    cannot be read to its end, and for one without rows.
    """
    count = 0
    for number, line in _lines(path):
        row = _object(path, number, line)
        if row is not None:
            count += 1
            yield row
    if not count:
        raise SourceError(f"{path}: the file holds no rows; give a file with one JSON object per line")


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    number = 0
    try:
        with _opened(path) as file:
            for line in file:
                number += 1
                yield number, line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SourceError(
            f"{path}, line {number + 1}: the gzip data is broken or cut off ({error}); fetch the file again"
        ) from error
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error


def _opened(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb")) if path.name.endswith(".gz") else path.open("rb")


def _object(path: Path, number: int, line: bytes) -> dict[str, Any] | None:
    where = f"{path}, line {number}"
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{where}: byte {error.start + 1} is not UTF-8 ({error.reason}); convert the file to UTF-8"
        ) from error
    if not text.strip():
        return None
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SourceError(
            f"{where}: not JSON ({error}); every line must be one complete JSON object, fetch the file again"
        ) from error
    if not isinstance(row, dict):
        raise SourceError(f"{where}: a JSON {_kind(row)}, not an object; every line must be one product as an object")
    return row


def _kind(value: object) -> str:
    if value is None:
        return "null"
    return {bool: "boolean", str: "string", list: "list"}.get(type(value), "number")
