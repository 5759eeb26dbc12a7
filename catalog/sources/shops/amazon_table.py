"""Tables whose columns are the fields of the Amazon shape, lists and objects written as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice

from ecom_rlve.catalog.rows.row import unreadable_row
from ecom_rlve.catalog.sources.delimited import records_of
from ecom_rlve.catalog.sources.jsonl import AMAZON_CURRENCY, amazon_shape
from ecom_rlve.catalog.sources.shops.offers import where
from ecom_rlve.catalog.sources.source import FileSource

_NUMBERS = ("average_rating", "rating_number")
_LISTS = ("categories", "features", "description")


class AmazonTable(FileSource):
    """A file of comma-separated values, or with another delimiter."""

    currency = AMAZON_CURRENCY

    def rows(self, start: int = 0) -> Iterator[Mapping[str, object]]:
        """Yield one row per record from row ``start`` on; raises :class:`SourceError` as :func:`records_of`."""
        for record in islice(records_of(self._path, None, self._max_bytes), start, None):
            fault = where(self._path, record.line, record.fault)
            row = {name: _value(name, cell) for name, cell in record.cells.items()}
            yield unreadable_row(fault) if fault else amazon_shape(row)


def _value(name: str, cell: str) -> object:
    if name in _NUMBERS:
        try:
            return float(cell)
        except ValueError:
            return None
    if name in _LISTS and cell.startswith("["):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            return cell
    if name == "categories" and ">" in cell:
        return [part.strip() for part in cell.split(">")]
    return cell
