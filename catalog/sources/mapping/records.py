"""Records of any file, with whatever columns it has: what a mapping is applied to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.sources.delimited import records_of
from ecom_rlve.catalog.sources.files.json_values import values_of
from ecom_rlve.catalog.sources.files.opened import head_of
from ecom_rlve.catalog.sources.huggingface import HubDataset
from ecom_rlve.catalog.sources.lines import MAX_LINE_BYTES
from ecom_rlve.catalog.sources.parquet import Parquet
from ecom_rlve.catalog.sources.shops.offers import where
from ecom_rlve.catalog.sources.shops.recognition import layout_of
from ecom_rlve.catalog.sources.source import FileSource

Cells = Mapping[str, str | list[str]]


class Found(NamedTuple):
    """One record."""

    cells: Cells
    """Texts by the names of columns; a list of texts where a column has a list; "a.b" for b inside of a."""
    fault: str = ""
    """Why it cannot be read, with file and line; empty if it can."""


class RecordSource(Protocol):
    """Records, always in the same order."""

    @property
    def name(self) -> str:
        """Canonical name of the source."""

    @property
    def identity(self) -> Mapping[str, str | int]:
        """Changes when the records may have changed."""

    def records(self) -> Iterator[Found]:
        """Yield the records; raises :class:`SourceError` where reading cannot go on."""


class FileRecords(FileSource):
    """A table with any delimiter, or a JSON file of objects."""

    def __init__(self, path: Path, max_bytes: int = MAX_LINE_BYTES) -> None:
        """Look at the beginning of the file; raises :class:`SourceError` where it holds no such records."""
        super().__init__(path, max_bytes)
        self._layout = layout_of(path, head_of(path))
        if self._layout == "XML":
            raise SourceError(f"{path}: looks like XML, and a mapping is for tables and JSON; give it without --map")

    def records(self) -> Iterator[Found]:
        """Yield the records of the file."""
        if self._layout == "a table":
            for record in records_of(self._path, None, self._max_bytes):
                yield Found(record.cells, where(self._path, record.line, record.fault))
            return
        for value in values_of(self._path, self._max_bytes):
            yield Found(flattened(value.row), where(self._path, value.line, value.fault))


class ArrowRecords:
    """Parquet files, or a data set of the hub."""

    def __init__(self, source: Parquet | HubDataset) -> None:
        """Name the source, which must read columns as they are."""
        self._source = source
        self.name = source.name

    @property
    def identity(self) -> Mapping[str, str | int]:
        """Sizes and times of files, or a revision."""
        return self._source.identity

    def records(self) -> Iterator[Found]:
        """Yield the rows."""
        return (Found(flattened(row)) for row in self._source.rows(0))


def flattened(value: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """Return the texts of an object by their paths.

    >>> flattened({"id": 7, "price": {"amount": "5.00"}, "tags": ["a", "b"], "none": None})
    {'id': '7', 'price.amount': '5.00', 'tags': ['a', 'b'], 'none': ''}
    """
    found: dict[str, str | list[str]] = {}
    for name, each in value.items():
        if isinstance(each, dict):
            found |= {f"{name}.{inner}": text for inner, text in flattened(each).items()}
        elif isinstance(each, list):
            texts = [_text(one.get("name", "")) if isinstance(one, dict) else _text(one) for one in each]
            found[name] = [text for text in texts if text]
        else:
            found[name] = _text(each)
    return found


def _text(value: object) -> str:
    if value is None:
        return ""
    return str(value).casefold() if isinstance(value, bool) else str(value).strip()
