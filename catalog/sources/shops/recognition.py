"""What a file is, told from its first bytes and the names of its fields; its own name does not count."""

from __future__ import annotations

from collections.abc import Callable, Set
from itertools import islice
from pathlib import Path

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.sources.delimited import header_of
from ecom_rlve.catalog.sources.files.decoding import text_of
from ecom_rlve.catalog.sources.files.headers import folded
from ecom_rlve.catalog.sources.files.json_values import values_of
from ecom_rlve.catalog.sources.files.opened import head_of
from ecom_rlve.catalog.sources.jsonl import JsonLines
from ecom_rlve.catalog.sources.lines import MAX_LINE_BYTES
from ecom_rlve.catalog.sources.merchant_feed import MerchantFeed
from ecom_rlve.catalog.sources.parquet import MAGIC, Parquet
from ecom_rlve.catalog.sources.shopify import ShopifyExport
from ecom_rlve.catalog.sources.shops.amazon_table import AmazonTable
from ecom_rlve.catalog.sources.shops.json_shapes import best_buy_shape, shopify_shape
from ecom_rlve.catalog.sources.shops.woocommerce import WooCommerceExport
from ecom_rlve.catalog.sources.source import RowSource

_LOOKED_AT = 20
_SHOWN = 8
_OBJECTS, _TABLE = "JSON objects", "a table"
_BINARY = {
    b"%PDF": "a PDF document",
    b"SQLite format 3": "a data base of SQLite",
    b"\xd0\xcf\x11\xe0": "an old workbook; save the sheet as CSV",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"ARROW1": "a file of Arrow; write it as Parquet",
    b"7z\xbc\xaf": "an archive; unpack it and give the file inside",
    b"Rar!": "an archive; unpack it and give the file inside",
    b"(\xb5/\xfd": "packed with zstd; unpack it and give the file inside",
    b"BZh": "packed with bzip2; unpack it and give the file inside",
    b"\xfd7zXZ": "packed with xz; unpack it and give the file inside",
}
_CONTROLS = frozenset(map(chr, (*range(9), *range(14, 32))))


def file_source(path: Path) -> RowSource:
    """Return the source that reads a file; raises :class:`SourceError`, saying what the file looks like instead."""
    head = head_of(path)
    if head.startswith(MAGIC):
        return Parquet(path)
    layout = layout_of(path, head)
    if layout == "XML":
        return MerchantFeed(path)
    names = field_names(path, layout)
    known = {folded(name) for name in names}
    makers = _JSON if layout == _OBJECTS else _TABLES
    for is_it, make in makers:
        if is_it(known):
            return make(path)
    if layout == _OBJECTS and not names:
        return JsonLines(path)
    raise _unknown(path, layout, names)


def layout_of(path: Path, head: bytes) -> str:
    """Return ``XML``, ``JSON objects`` or ``a table``; raises :class:`SourceError` for a file that is nothing such."""
    text = text_of(head).lstrip()
    if not text:
        raise SourceError(f"{path}: holds no rows, the file is empty; give a file with products")
    for magic, what in _BINARY.items():
        if head.startswith(magic):
            raise SourceError(f"{path}: looks like {what}, not like a file of products")
    if text[0] == "<":
        if text[:200].casefold().startswith(("<!doctype html", "<html")):
            raise SourceError(
                f"{path}: looks like a web page, perhaps of an error or a login; fetch the feed or export itself again"
            )
        return "XML"
    if text[0] in "{[":
        return _OBJECTS
    if sum(char in _CONTROLS for char in text[:1000]) > 10:
        raise SourceError(f"{path}: looks like no text; give a file of products, packed as .gz or .zip at most")
    return _TABLE


def field_names(path: Path, layout: str, max_bytes: int = MAX_LINE_BYTES) -> list[str]:
    """Return the columns of a table, or the fields of the first objects, in order."""
    if layout == _TABLE:
        return header_of(path, max_bytes)
    return list(dict.fromkeys(name for value in islice(values_of(path, max_bytes), _LOOKED_AT) for name in value.row))


def _unknown(path: Path, layout: str, names: list[str]) -> SourceError:
    if "subCategories" in names:
        return SourceError(f"{path}: holds a tree of categories, give a file with the products themselves")
    shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    return SourceError(
        f"{path}: looks like {layout} with {len(names)} fields ({shown}), but like no export that is known (Amazon "
        f"metadata, Google Merchant, Shopify, WooCommerce, Best Buy); say which field is what: "
        f"ecom-rlve catalog map '{path}' > map.toml, look through that, and add --map map.toml"
    )


def _is_amazon(names: Set[str]) -> bool:
    return "parent asin" in names or {"asin", "title"} <= names


def _is_shopify(names: Set[str]) -> bool:
    return "title" in names and not names.isdisjoint(("handle", "url handle", "body html"))


def _is_woocommerce(names: Set[str]) -> bool:
    return "name" in names and ("regular price" in names or {"type", "sku", "published"} <= names)


def _is_google(names: Set[str]) -> bool:
    return "title" in names and not names.isdisjoint(("id", "offer id"))


def _is_best_buy(names: Set[str]) -> bool:
    return {"sku", "name"} <= names


def _shopify_json(path: Path) -> RowSource:
    return JsonLines(path, shape=shopify_shape)


def _best_buy(path: Path) -> RowSource:
    return JsonLines(path, shape=best_buy_shape)


_Known = tuple[tuple[Callable[[Set[str]], bool], Callable[[Path], RowSource]], ...]
_TABLES: _Known = (
    (_is_amazon, AmazonTable),
    (_is_shopify, ShopifyExport),
    (_is_woocommerce, WooCommerceExport),
    (_is_google, MerchantFeed),
)
_JSON: _Known = (
    (_is_amazon, JsonLines),
    (_is_shopify, _shopify_json),
    (_is_best_buy, _best_buy),
    (_is_google, MerchantFeed),
)
