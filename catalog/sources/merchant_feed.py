"""Google Merchant product feeds: RSS or Atom in XML, with or without Google's name space, and TSV.

Every item is a product. Of items with the same title, such as the sizes of a shoe, the first is kept. Availability is
not read, because our shops derive their stock. The XML is parsed with bounded memory. A document type is refused: no
feed needs one, and its entities can make a small file grow without bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from xml.parsers import expat

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.shop_words.prices import parse_price
from ecom_rlve.catalog.sources.category_paths import category_fields
from ecom_rlve.catalog.sources.delimited import records_of
from ecom_rlve.catalog.sources.lines import unreadable
from ecom_rlve.catalog.sources.source import FileSource

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
        *("price", "sale_price", "sale_price_effective_date", "currency", *_DETAILS),
    )
)
_NAME_SPACE = "base.google.com/ns/"
_CHUNK = 2**16

Item = dict[str, list[str]]
"""The texts of the wanted fields of one product, by Google's names."""


class MerchantFeed(FileSource):
    """An ``.xml`` or ``.tsv`` file."""

    def rows(self, start: int = 0) -> Iterator[Mapping[str, object]]:
        """Yield one row per item from row ``start`` on.

        Raises :class:`SourceError`, naming file and line, for a file that is broken or cut off, or holds no items.
        """
        is_xml = self._path.suffix.casefold() == ".xml"
        items = xml_items(self._path, self._max_bytes) if is_xml else tsv_items(self._path, self._max_bytes)
        found = False
        for item in islice(items, start, None):
            found = True
            yield row_of(item, "g:" if is_xml else "")
        if not found and not start:
            raise SourceError(f"{self._path}: the feed holds no items; give a Google Merchant product feed")


def row_of(item: Item, prefix: str) -> dict[str, object]:
    """Return an item as a row; ``prefix`` is what its source writes before Google's names."""
    texts = {name: values[0] for name, values in item.items() if values[0]}
    price = _price_field(texts)
    kinds = {f"{prefix}{name}": texts.get(name, "") for name in ("product_type", "google_product_category")}
    category, names = category_fields(kinds, {})
    names |= {f"details.{key}": f"{prefix}{name}" for name, key in _DETAILS.items()} | {"price": f"{prefix}{price}"}
    return {
        "parent_asin": texts.get("id", ""),
        "title": texts.get("title", ""),
        "description": _unescaped(texts.get("description") or texts.get("summary", "")),
        "features": item.get("product_highlight", []),
        "price": texts.get(price),
        "currency": texts.get("currency"),
        "details": {key: texts[name] for name, key in _DETAILS.items() if name in texts},
        "field_names": names,
        **category,
    }


def tsv_items(path: Path, max_bytes: int) -> Iterator[Item]:
    """Yield the items of a tab-separated feed."""
    for record in records_of(path, "\t", max_bytes):
        cells = {name.casefold().removeprefix("g:").replace(" ", "_"): cell for name, cell in record.cells.items()}
        if not {"id", "title"} <= cells.keys():
            raise SourceError(
                f"{path}, line 1: no columns 'id' and 'title', so this is no Google Merchant feed; "
                f"give tab-separated text with a header of Google's attribute names"
            )
        yield {name: [cells[name]] for name in cells.keys() & _FIELDS}


def xml_items(path: Path, max_bytes: int) -> Iterator[Item]:
    """Yield the items of an XML feed as soon as each has ended."""
    parser = _FeedParser(path, max_bytes)
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield from parser.feed(chunk)
        yield from parser.feed(b"", is_last=True)
    except OSError as error:
        raise unreadable(path, error) from error


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
