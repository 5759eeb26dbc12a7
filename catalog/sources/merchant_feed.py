"""Google Merchant product feeds: RSS or Atom in XML, with or without Google's name space, and tables.

Items of one group, such as the sizes of a shoe, are one product with variants. Availability counts for a variant only,
because our shops derive the stock of products. The XML is parsed with bounded memory. A document type is refused: no
feed needs one, and its entities can make a small file grow without bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from xml.parsers import expat

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.rows.report import STATUS_FIELDS
from ecom_rlve.catalog.shop_words.prices import parse_price
from ecom_rlve.catalog.sources.category_paths import category_fields
from ecom_rlve.catalog.sources.delimited import records_of
from ecom_rlve.catalog.sources.files.decoding import text_of
from ecom_rlve.catalog.sources.files.headers import folded_cells
from ecom_rlve.catalog.sources.files.json_values import values_of
from ecom_rlve.catalog.sources.files.opened import head_of, opened, told
from ecom_rlve.catalog.sources.shops.offers import Entry, Offer, OfferFile, where

_DETAILS = {
    "brand": "Brand",
    "color": "Color",
    "size": "Size",
    "material": "Material",
    "pattern": "Pattern",
    "age_group": "Age Range",
    "product_weight": "Product Weight",
    "product_length": "Item Length",
    "shipping_weight": "Shipping Weight",
}
_FIELDS = frozenset(
    (
        *("id", "title", "description", "summary", "product_highlight", "product_type", "google_product_category"),
        *("price", "sale_price", "sale_price_effective_date", "currency", "item_group_id", "availability"),
        *(*STATUS_FIELDS, *_DETAILS),
    )
)
_OPTIONS = ("color", "size", "material", "pattern")
_ALIASES = {
    "offer_id": "id",
    "product_types": "product_type",
    "sizes": "size",
    "product_highlights": "product_highlight",
}
"""Names of the Content API, where they are not the feed's."""
_SOLD_OUT = ("out of stock", "sold out")
_NAME_SPACE = "base.google.com/ns/"
_CHUNK = 2**16

Item = dict[str, list[str]]
"""The texts of the wanted fields of one product, by Google's names."""


class MerchantFeed(OfferFile[Item]):
    """A feed in XML, in JSON, or in a table with any delimiter."""

    empty = "the feed holds no items; give a Google Merchant product feed"

    def entries(self) -> Iterator[Entry[Item]]:
        """Yield the items; those with one ``item_group_id`` are one product."""
        if self._is_xml:
            return (Entry(_group(item), item) for item in xml_items(self._path, self._max_bytes))
        if self._start in ("{", "["):
            return json_entries(self._path, self._max_bytes)
        return table_entries(self._path, self._max_bytes)

    def offers(self, entries: Sequence[Entry[Item]]) -> Iterator[Offer]:
        """Yield an offer for each item; the id of a group is the product's."""
        for entry in entries:
            yield offer_of(entry.cells, "g:" if self._is_xml else "", is_in_group=len(entries) > 1)

    @property
    def _is_xml(self) -> bool:
        return self._start in ("<", "")

    @cached_property
    def _start(self) -> str:
        """The first character of the file; empty for an empty one."""
        return text_of(head_of(self._path, _CHUNK)).lstrip()[:1]


def offer_of(item: Item, prefix: str, *, is_in_group: bool = False) -> Offer:
    """Return an item as an offer; ``prefix`` is what its source writes before Google's names."""
    texts = {name: values[0] for name, values in item.items() if values[0]}
    price = _price_field(texts)
    kinds = {f"{prefix}{name}": texts.get(name, "") for name in ("product_type", "google_product_category")}
    category, names = category_fields(kinds, {})
    names |= {f"details.{key}": f"{prefix}{name}" for name, key in _DETAILS.items()} | {"price": f"{prefix}{price}"}
    return Offer(
        fields={
            "parent_asin": (texts.get("item_group_id") if is_in_group else None) or texts.get("id", ""),
            "title": texts.get("title", ""),
            "description": _unescaped(texts.get("description") or texts.get("summary", "")),
            "features": item.get("product_highlight", []),
            **{name: texts[name] for name in STATUS_FIELDS if name in texts},
            **category,
        },
        details={key: texts.get(name, "") for name, key in _DETAILS.items()},
        options=tuple(_DETAILS[name] for name in _OPTIONS),
        price=texts.get(price, ""),
        currency=texts.get("currency", ""),
        stock=0 if texts.get("availability", "").replace("_", " ").casefold() in _SOLD_OUT else None,
        names=names,
    )


def item_of(cells: Mapping[str, object]) -> Item:
    """Return the fields of a record of a table, or of a JSON object, as an item."""
    named = {name.replace(" ", "_"): cell for name, cell in folded_cells(cells).items()}
    item = {_ALIASES.get(name, name): _texts(cell) for name, cell in named.items() if cell is not None}
    return {name: values for name, values in item.items() if name in _FIELDS and values}


def table_entries(path: Path, max_bytes: int) -> Iterator[Entry[Item]]:
    """Yield the items of a table whose columns have Google's names."""
    for record in records_of(path, None, max_bytes):
        item = item_of(record.cells)
        yield Entry(_group(item), item, where(path, record.line, record.fault))


def json_entries(path: Path, max_bytes: int) -> Iterator[Entry[Item]]:
    """Yield the items of a JSON file whose fields have Google's names."""
    for value in values_of(path, max_bytes):
        item = item_of(value.row)
        yield Entry(_group(item), item, where(path, value.line, value.fault))


def _group(item: Item) -> str:
    """Return what the items of one product share.

    Some feeds list the sizes of a thing without a group. Those have one title, brand and colour.
    """
    group = item.get("item_group_id", [""])[0]
    if group:
        return f"group {group}"
    title = item.get("title", [""])[0]
    return "\x1f".join(("title", title, *(item.get(name, [""])[0] for name in ("brand", "color")))) if title else ""


def _texts(cell: object) -> list[str]:
    if isinstance(cell, dict):
        return [" ".join(str(cell[key]) for key in ("value", "currency") if key in cell)]
    if isinstance(cell, list):
        return [str(each) for each in cell]
    return [str(cell).strip()]


def xml_items(path: Path, max_bytes: int) -> Iterator[Item]:
    """Yield the items of an XML feed as soon as each has ended."""
    parser = _FeedParser(path, max_bytes)
    with told(path):
        file = opened(path)
    with closing(file):
        while True:
            with told(path):
                chunk = file.read(_CHUNK)
            if not chunk:
                break
            yield from parser.feed(chunk)
    yield from parser.feed(b"", is_last=True)


class _FeedParser:
    """Collects the wanted fields of items; everything else is skipped and not kept."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path, self._max_bytes = path, max_bytes
        self._prefixes = {"", "g"}
        self._fed = 0
        self._started: int | None = None
        """Byte at which the current item began; None between items."""
        self._item: Item = {}
        self._items: list[Item] = []
        self._depth = 0
        """Open elements inside the item."""
        self._text: list[str] | None = None
        """Parts of the text of the wanted field that is being read."""
        self._parser = expat.ParserCreate()
        self._parser.StartDoctypeDeclHandler = self._refuse_document_type
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._add

    def feed(self, chunk: bytes, is_last: bool = False) -> list[Item]:
        """Parse more bytes; return the items that end in them."""
        try:
            self._parser.Parse(chunk, is_last)
        except expat.ExpatError as error:
            raise SourceError(
                f"{self._path}, line {error.lineno}: broken or cut-off XML ({expat.ErrorString(error.code)}); "
                f"fetch the feed again and check that it has the encoding it declares"
            ) from error
        self._fed += len(chunk)
        # An item's fields are kept here until its end; a tag, or a comment, is kept by the parser until its own.
        pending = self._parser.CurrentByteIndex if self._started is None else self._started
        if self._fed - pending > self._max_bytes:
            raise SourceError(
                f"{self._path}, line {self._parser.CurrentLineNumber}: one item of more than {self._max_bytes:,} "
                f"bytes; give a feed with an <item> per product, or leave that one out"
            )
        items, self._items = self._items, []
        return items

    def _refuse_document_type(self, *_: object) -> None:
        raise SourceError(
            f"{self._path}, line {self._parser.CurrentLineNumber}: a document type, in which entities can grow without "
            f"bound; take the <!DOCTYPE> out of the feed"
        )

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        for name, value in attributes.items():
            if name.startswith("xmlns:") and _NAME_SPACE in value:
                self._prefixes.add(name.removeprefix("xmlns:"))
        if self._started is not None:
            self._depth += 1
            prefix, _, name = tag.rpartition(":")
            # Deeper elements belong to groups: the price in g:shipping is not the product's.
            if self._depth == 1 and prefix in self._prefixes and name in _FIELDS:
                self._text = []
        elif tag in ("item", "entry"):
            self._started, self._item = self._parser.CurrentByteIndex, {}

    def _add(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        if self._started is None:
            return
        if not self._depth:
            self._items.append(self._item)
            self._started = None
            return
        self._depth -= 1
        if not self._depth and self._text is not None:
            self._item.setdefault(tag.rpartition(":")[2], []).append("".join(self._text).strip())
            self._text = None


def _price_field(texts: Mapping[str, str]) -> str:
    """Return the field of the price to pay: the sale price, unless the sale is limited to some time."""
    sale, full = (parse_price(texts.get(name), texts.get("currency")) for name in ("sale_price", "price"))
    is_sale = sale.low_cents is not None and "sale_price_effective_date" not in texts
    return "sale_price" if is_sale and (full.low_cents or sale.low_cents or 0) >= (sale.low_cents or 0) else "price"


def _unescaped(text: str) -> str:
    """Return the text without the backslashes that some exports put before quotes."""
    return text.replace("\\'", "'").replace('\\"', '"')
