"""What the record of a shop's file offers, and how the offers of one product become a row with variants.

A product has what all its offers share (a colour, a weight), and not what differs between them. Its price is that of
the cheapest offer, and a lower bound if prices differ. Offers with options of their own (a size, a colour) are its
variants.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Generic, TypeVar

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.rows.report import STATUS_FIELDS, unsold
from ecom_rlve.catalog.rows.row import CONTINUATION, unreadable_row
from ecom_rlve.catalog.shop_words.prices import parse_price
from ecom_rlve.catalog.sources.files.grouping import groups_of
from ecom_rlve.catalog.sources.source import FileSource

Row = Mapping[str, object]
Cells = TypeVar("Cells")


_MOST_DIGITS = 18
"""A longer number counts nothing that a shop has."""


def whole_number(text: str) -> int | None:
    """Return the number that a text of digits is; None for any other text, and for a number that counts nothing.

    >>> whole_number("12"), whole_number("1.5"), whole_number("9" * 5_000)
    (12, None, None)
    """
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None


@dataclass(frozen=True, slots=True)
class Offer:
    """One record: a product, or a variant of one."""

    fields: Mapping[str, object] = field(default_factory=dict)
    """Fields of the row that are the product's: id, title, texts, category, status."""
    details: Mapping[str, str] = field(default_factory=dict)
    """Stated values by name; those that differ between offers are not the product's."""
    options: tuple[str, ...] = ()
    """Names of the details in which offers of one product may differ by design."""
    price: str = ""
    currency: str = ""
    stock: int | None = None
    """Units of it; None = not stated, or not limited."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The source's own names of fields."""

    @property
    def is_head(self) -> bool:
        """Whether it has what is the product's."""
        return bool(self.fields.get("title"))


@dataclass(frozen=True, slots=True)
class Entry(Generic[Cells]):
    """One record as it stands in a file, with the product that it belongs to."""

    group: str
    """Equal for the records of one product; empty for a record by itself."""
    cells: Cells
    fault: str = ""
    """Why the record cannot be read, with file and line; empty if it can."""


class OfferFile(FileSource, Generic[Cells]):
    """Base of all files whose records are offers, several of which may be one product."""

    empty = "holds no rows below its header; export the products again"
    """What is wrong with a file without records."""

    def rows(self, start: int = 0) -> Iterator[Row]:
        """Yield one row per record from row ``start`` on, the records of one product together.

        Raises :class:`SourceError`, naming file and line, for a file that cannot be read to its end or has no records.
        """
        groups = groups_of(self.entries)
        return islice(chain.from_iterable(map(self._group_rows, self._some(groups))), start, None)

    @abstractmethod
    def entries(self) -> Iterator[Entry[Cells]]:
        """Yield the records of the file."""

    @abstractmethod
    def offers(self, entries: Sequence[Entry[Cells]]) -> Iterator[Offer]:
        """Yield what the records of one product offer."""

    def _group_rows(self, entries: Sequence[Entry[Cells]]) -> Iterator[Row]:
        for entry in entries:
            if entry.fault:
                yield unreadable_row(entry.fault)
        whole = [entry for entry in entries if not entry.fault]
        if whole:
            yield from rows_of(list(self.offers(whole)))

    def _some(self, groups: Iterator[list[Entry[Cells]]]) -> Iterator[list[Entry[Cells]]]:
        found = False
        for group in groups:
            found = True
            yield group
        if not found:
            raise SourceError(f"{self._path}: {self.empty}")


def where(path: Path, line: int, fault: str) -> str:
    """Return a fault with file and line; empty if there is none."""
    return f"{path}, line {line}: {fault}" if fault else ""


def rows_of(offers: Sequence[Offer]) -> Iterator[Row]:
    """Yield the row of a product, and then one for each further offer, so that every record is accounted for."""
    head = next((offer for offer in offers if offer.is_head), offers[0])
    others = [offer for offer in offers if offer is not head]
    sold = [offer for offer in others if unsold(offer.fields) is None]
    yield _row(head, [head, *sold] if unsold(head.fields) is None else [head])
    for offer in others:
        yield {**{name: offer.fields[name] for name in STATUS_FIELDS if name in offer.fields}, **CONTINUATION}


def _row(head: Offer, offers: Sequence[Offer]) -> dict[str, object]:
    values: dict[str, list[str]] = {}
    for offer in offers:
        for name, value in offer.details.items():
            if value and value not in values.setdefault(name, []):
                values[name].append(value)
    options = dict.fromkeys(name for offer in offers for name in offer.options)
    varying = [name for name in options if len(values.get(name, ())) > 1]
    row: dict[str, object] = {
        **head.fields,
        "price": _price_range(offers),
        "details": {name: found[0] for name, found in values.items() if len(found) == 1},
        "field_names": head.names,
        "is_shop_s_own": True,
    }
    currency = next((offer.currency for offer in offers if offer.currency), "")
    if currency:
        row["currency"] = currency
    variants = [_variant(offer, varying) for offer in offers if any(offer.details.get(name) for name in varying)]
    if len(variants) > 1:
        row["variants"] = variants
    return row


def _variant(offer: Offer, varying: Sequence[str]) -> dict[str, object]:
    options = {name: offer.details[name] for name in varying if offer.details.get(name)}
    return {"options": options, "price": offer.price, "stock": offer.stock}


def _price_range(offers: Sequence[Offer]) -> str:
    """Return the lowest and the highest price as they are written; the only price, or nothing, where there are no two.

    An offer without a price says nothing, for its price may be any.
    """
    known = [(price.low_cents, offer.price) for offer in offers if (price := parse_price(offer.price)).low_cents]
    if not known:
        return next((offer.price for offer in offers if offer.price), "")
    return " - ".join(dict.fromkeys(raw for _, raw in (min(known), max(known))))
