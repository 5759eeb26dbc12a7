"""Product exports of Shopify (CSV), as rows of one product per handle.

A product takes several lines: the first has its texts, each further one a variant (option values, a price) or only
another image. They become one product, as the shop shows it. Its price is that of the cheapest variant, and a lower
bound if prices differ. It has the values that all variants share (a colour, a weight), and not those that differ. Tags
name a product's kind if title and type do not. They are no evidence of a colour or a material, because shops also tag
what a product goes well with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.kinds.leaf_categories import leaf_of_title
from ecom_rlve.catalog.rows.row import CONTINUATION
from ecom_rlve.catalog.shop_words.prices import parse_price
from ecom_rlve.catalog.sources.category_paths import category_fields
from ecom_rlve.catalog.sources.delimited import Record, records_of
from ecom_rlve.catalog.sources.source import FileSource

# Shopify renamed its columns in 2025; exports of both kinds are in use.
_COLUMNS = {
    "handle": ("handle", "url handle"),
    "title": ("title",),
    "body": ("body (html)", "description"),
    "vendor": ("vendor",),
    "type": ("type",),
    "tags": ("tags",),
    "category": ("product category", "google shopping / google product category"),
    "age": ("google shopping / age group",),
    "price": ("variant price", "price"),
    "grams": ("variant grams", "weight value (grams)"),
    **{f"name{at}": (f"option{at} name",) for at in (1, 2, 3)},
    **{f"value{at}": (f"option{at} value",) for at in (1, 2, 3)},
}
_NO_OPTION = ("title", "default title")
_BULLET = re.compile(r"<li\b[^>]*>(.*?)</li\s*>", re.IGNORECASE | re.DOTALL)


class ShopifyExport(FileSource):
    """A ``.csv`` file. Every record is a row; all but the first record of a handle are continuations."""

    def rows(self, start: int = 0) -> Iterator[Mapping[str, object]]:
        """Yield one row per record from row ``start`` on.

        Raises :class:`SourceError`, naming file and line, for a broken file and for one that is no product export.
        """
        return islice(self._all_rows(), start, None)

    def _all_rows(self) -> Iterator[Mapping[str, object]]:
        listing: _Listing | None = None
        for record in records_of(self._path, ",", self._max_bytes):
            cells = _renamed(self._path, record)
            if listing is not None and cells["handle"] == listing.handle and cells["title"] in ("", listing.title):
                listing.add(cells)
                continue
            if listing is not None:
                yield from listing.rows()
            listing = _Listing(cells)
        if listing is None:
            raise SourceError(f"{self._path}: the file holds no rows below its header; export the products again")
        yield from listing.rows()


class _Listing:
    """One product while its lines are read. It keeps no lines, so a product may have any number of them."""

    def __init__(self, cells: Mapping[str, str]) -> None:
        self.handle, self.title = cells["handle"], cells["title"]
        self._cells = cells
        names = {at: cells[f"name{at}"] for at in (1, 2, 3)}
        self._options = {at: name for at, name in names.items() if name and name.casefold() not in _NO_OPTION}
        self._details: dict[str, str] = {}
        self._several: set[str] = set()
        self._prices: list[tuple[int, str]] = []
        """The lowest and the highest price, in cents and as written."""
        self._lines = 0
        self.add(cells)

    def add(self, cells: Mapping[str, str]) -> None:
        """Add one line, of a variant or an image."""
        self._lines += 1
        stated = {name: cells[f"value{at}"] for at, name in self._options.items()}
        # Shopify writes 0 where no weight was entered.
        stated["Item Weight"] = f"{cells['grams']} g" if cells["grams"].strip("0.") else ""
        for name, value in stated.items():
            if value and self._details.setdefault(name, value) != value:
                self._several.add(name)
        price = parse_price(cells["price"]).low_cents
        if price is not None:
            prices = [*self._prices, (price, cells["price"])]
            self._prices = [min(prices), max(prices)]

    def rows(self) -> Iterator[Mapping[str, object]]:
        """Yield the product, and a continuation for every line after its first."""
        yield self._product()
        for _ in range(self._lines - 1):
            yield CONTINUATION

    def _product(self) -> dict[str, object]:
        cells = self._cells
        options = {name: value for name, value in self._details.items() if name not in self._several}
        label, label_field = self._label()
        category, category_names = category_fields({"Product Category": cells["category"]}, {label_field: label})
        names = {f"details.{name}": f"Option{at} Value" for at, name in self._options.items()}
        names |= {"details.Item Weight": "Variant Grams", "details.Age Range": "Google Shopping / Age Group"}
        names |= {"details.Brand": "Vendor", "store": "Vendor", "price": "Variant Price"}
        names |= {"title": "Title", "description": "Body (HTML)", "features": "Body (HTML)"}
        return {
            "parent_asin": self.handle,
            "title": self.title,
            "description": [_BULLET.sub(" ", cells["body"])],
            "features": _BULLET.findall(cells["body"]),
            "store": cells["vendor"],
            "price": " - ".join(dict.fromkeys(raw for _, raw in self._prices)),
            "details": options | {"Brand": cells["vendor"], "Age Range": cells["age"]},
            "field_names": names | category_names,
            **category,
        }

    def _label(self) -> tuple[str, str]:
        """Return the shop's type, or if that names no thing, the first tag that does; and its column."""
        kind = self._cells["type"]
        if kind and leaf_of_title(kind):
            return kind, "Type"
        tags = [tag.strip() for tag in self._cells["tags"].split(",")]
        return next(((tag, "Tags") for tag in tags if leaf_of_title(tag)), (kind, "Type"))


def _renamed(path: Path, record: Record) -> dict[str, str]:
    """Return the cells by our names, empty where the export lacks the column."""
    cells = {name.casefold(): cell for name, cell in record.cells.items()}
    for wanted in ("handle", "title"):
        if not any(name in cells for name in _COLUMNS[wanted]):
            raise SourceError(
                f"{path}, line 1: no column {wanted.title()!r}, so this is no Shopify product export; "
                f"give the file that Products > Export writes"
            )
    return {ours: next((cells[name] for name in names if cells.get(name)), "") for ours, names in _COLUMNS.items()}
