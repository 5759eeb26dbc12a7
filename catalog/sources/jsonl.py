"""JSON-lines files, plain or gzipped, as rows. A file with a fault anywhere is refused as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.sources.lines import texts_of
from ecom_rlve.catalog.sources.source import FileSource


class JsonLines(FileSource):
    """A ``.jsonl`` or ``.jsonl.gz`` file of objects, one per line; blank lines are skipped."""

    def rows(self, start: int = 0) -> Iterator[Mapping[str, object]]:
        """Yield the objects from row ``start`` on; lines before it are not parsed.

        Raises :class:`SourceError`, naming file and line, for a line that is not a JSON object in UTF-8 or longer than
        the limit, for a file that cannot be read to its end, and for one without rows.
        """
        count = 0
        for number, text in texts_of(self._path, self._max_bytes):
            if text.isspace():
                continue
            count += 1
            if count > start:
                yield _object(self._path, number, text)
        if not count:
            raise SourceError(f"{self._path}: the file holds no rows; give a file with one JSON object per line")


def _object(path: Path, number: int, text: str) -> dict[str, Any]:
    where = f"{path}, line {number}"
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
