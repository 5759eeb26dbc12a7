"""Records of any columns as rows, by a mapping."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import chain, islice

from ecom_rlve.catalog.attributes import ATTRIBUTES, DISCRETE
from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.rows.report import STATUS_FIELDS
from ecom_rlve.catalog.rows.row import unreadable_row
from ecom_rlve.catalog.shop_words.prices import parse_price
from ecom_rlve.catalog.sources.files.grouping import groups_of
from ecom_rlve.catalog.sources.mapping.file import CENTS, ColumnMapping
from ecom_rlve.catalog.sources.mapping.records import Cells, Found, RecordSource
from ecom_rlve.catalog.sources.shops.offers import Entry, Offer, Row, rows_of, whole_number

_DETAILS = {"model": "Model Name", "weight": "Item Weight", "length": "Item Length"}
"""The detail that states an attribute, where its name is not the attribute's own."""
_BARE = re.compile(r"\d+(?:[.,]\d+)?")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class MappedSource:
    """Rows made from records by a mapping."""

    def __init__(self, source: RecordSource, mapping: ColumnMapping) -> None:
        """Hold both; nothing is read yet."""
        self._source, self._mapping = source, mapping
        self.name = source.name
        self.currency = mapping.catalog.currency

    @property
    def identity(self) -> Mapping[str, str | int]:
        """Changes when records or mapping may have changed."""
        text = json.dumps(self._mapping.model_dump(mode="json"))
        return {**self._source.identity, "mapping": blake2b(text.encode(), digest_size=8).hexdigest()}

    def rows(self, start: int = 0) -> Iterator[Row]:
        """Yield one row per record from row ``start`` on, the records of one group together.

        Raises :class:`SourceError` where reading cannot go on, a mapped column is missing, or there are no records.
        """
        return islice(chain.from_iterable(map(self._group, groups_of(self._entries))), start, None)

    def _entries(self) -> Iterator[Entry[Cells]]:
        first = True
        for found in self._source.records():
            if first and not found.fault:
                self._check(found)
                first = False
            columns = self._mapping.of("group")
            yield Entry(" ".join(filter(None, (_joined(found.cells, (name,)) for name in columns))), *found)
        if first:
            raise SourceError(f"{self.name}: holds no rows; give a file with products")

    def _check(self, found: Found) -> None:
        for field in ("id", "title"):
            if not any(column in found.cells for column in self._mapping.of(field)):
                raise SourceError(
                    f"{self.name}: no column {self._mapping.of(field)[0]!r}, which the mapping calls the {field}; "
                    f"there are {', '.join(found.cells) or 'none'}"
                )

    def _group(self, entries: Sequence[Entry[Cells]]) -> Iterator[Row]:
        for entry in entries:
            if entry.fault:
                yield unreadable_row(entry.fault)
        whole = [entry for entry in entries if not entry.fault]
        if whole:
            yield from rows_of([self._offer(entry.cells, entry.group if len(whole) > 1 else "") for entry in whole])

    def _offer(self, cells: Cells, group: str) -> Offer:
        mapping = self._mapping
        text = {field: _joined(cells, mapping.of(field)) for field in dict.fromkeys(mapping.columns.values())}
        attributes = [name for name in ATTRIBUTES if name in text]
        is_sale = parse_price(self._price(text, "sale_price")).low_cents is not None
        price = "sale_price" if is_sale else "price"
        names = {_detail_key(name): mapping.of(name)[0] for name in attributes}
        names |= {"price": mapping.of(price)[0]} if mapping.of(price) else {}
        units = text.get("stock", "").partition(".")[0]
        return Offer(
            fields={
                "parent_asin": group or text["id"],
                "title": text["title"],
                "description": [text.get("description", "")],
                "features": list(_parts(cells, mapping.of("features"))),
                "store": text.get("store"),
                "average_rating": _number(text.get("rating", "")),
                "rating_number": _number(text.get("rating_count", "")),
                **{name: text[name] for name in STATUS_FIELDS if name in text},
                **self._category(cells),
            },
            details={
                "Brand": text.get("brand", ""),
                **{_detail(name): self._with_unit(name, text[name]) for name in attributes},
            },
            options=tuple(_detail(name) for name in attributes if name in DISCRETE),
            price=self._price(text, price),
            currency=text.get("currency") or "",
            stock=whole_number(units),
            names=names,
        )

    def _price(self, text: Mapping[str, str], field: str) -> str:
        price = text.get(field, "")
        cents = whole_number(price) if self._mapping.units.get(field) == CENTS else None
        return price if cents is None else f"{cents // 100}.{cents % 100:02d}"

    def _with_unit(self, name: str, text: str) -> str:
        unit = self._mapping.units.get(name)
        return f"{text.replace(',', '.')} {unit}" if unit and _BARE.fullmatch(text) else text

    def _category(self, cells: Cells) -> dict[str, list[str] | str]:
        """Return a path from columns that are levels, or from a cell that holds all of them; one word as a hint."""
        separator = self._mapping.catalog.category_separator
        parts = [part.strip() for text in _parts(cells, self._mapping.of("category")) for part in text.split(separator)]
        levels = [part for part in parts if part]
        if len(levels) > 1:
            return {"categories": levels}
        return {"main_category": levels[0]} if levels else {}


def _joined(cells: Cells, columns: Sequence[str]) -> str:
    return " ".join(_parts(cells, columns))


def _parts(cells: Cells, columns: Sequence[str]) -> Iterator[str]:
    for column in columns:
        cell = cells.get(column, "")
        yield from filter(None, cell if isinstance(cell, list) else (cell,))


def _detail(attribute: str) -> str:
    return _DETAILS.get(attribute, attribute.replace("_", " ").title())


def _detail_key(attribute: str) -> str:
    return f"details.{_detail(attribute)}"


def _number(text: str) -> float | None:
    plain = text.replace(",", ".")
    return float(plain) if _NUMBER.fullmatch(plain) else None
