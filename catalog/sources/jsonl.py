"""JSON files as rows, one per object: of the Amazon shape, of a shop's own export, or of Best Buy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ecom_rlve.catalog.rows.row import unreadable_row
from ecom_rlve.catalog.sources.files.json_values import values_of
from ecom_rlve.catalog.sources.lines import MAX_LINE_BYTES
from ecom_rlve.catalog.sources.shops.offers import where
from ecom_rlve.catalog.sources.source import FileSource

AMAZON_CURRENCY = "USD"
"""The Amazon-Reviews-2023 metadata is of amazon.com, and states no currency."""

Shape = Callable[[Mapping[str, Any]], Mapping[str, object]]


def amazon_shape(value: Mapping[str, Any]) -> Mapping[str, object]:
    """Return an object of the Amazon shape as it is; older files call the id ``asin``."""
    return value if "parent_asin" in value or "asin" not in value else {**value, "parent_asin": value["asin"]}


class JsonLines(FileSource):
    """A file of objects: one per line, one after the other, or in a list."""

    def __init__(self, path: Path, max_bytes: int = MAX_LINE_BYTES, shape: Shape = amazon_shape) -> None:
        """Name the file. ``shape`` turns an object into a row."""
        super().__init__(path, max_bytes)
        self._shape = shape
        self.currency = AMAZON_CURRENCY if shape is amazon_shape else None

    def rows(self, start: int = 0) -> Iterator[Mapping[str, object]]:
        """Yield a row for each object from number ``start`` on, also for one that cannot be read.

        Raises :class:`SourceError`, naming file and line, for a line or value longer than the limit, for a file that
        cannot be read to its end, and for one without rows.
        """
        for at, value in enumerate(values_of(self._path, self._max_bytes)):
            if at >= start:
                fault = where(self._path, value.line, value.fault)
                yield unreadable_row(fault) if fault else self._shape(value.row)
