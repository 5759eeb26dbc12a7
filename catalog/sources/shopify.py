"""Product exports of Shopify (CSV), as rows of one product per handle.

A product takes several lines: the first has its texts, each further one a variant (option values, a price, a stock) or
only another image. They become one product with variants, as the shop shows it. Tags are not read, because
shops also tag what a product goes well with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ecom_rlve.catalog.sources.category_paths import category_fields
from ecom_rlve.catalog.sources.delimited import records_of
from ecom_rlve.catalog.sources.files.headers import folded_cells
from ecom_rlve.catalog.sources.shops.offers import Entry, Offer, OfferFile, where, whole_number

# Shopify renamed its columns in 2025; exports of both kinds are in use.
_COLUMNS = {
    "handle": ("handle", "url handle"),
    "title": ("title",),
    "body": ("body (html)", "description"),
    "vendor": ("vendor",),
    "type": ("type",),
    "category": ("product category", "google shopping / google product category"),
    "age": ("google shopping / age group",),
    "price": ("variant price", "price"),
    "grams": ("variant grams", "weight value (grams)"),
    "stock": ("variant inventory qty", "inventory quantity"),
    "tracker": ("variant inventory tracker", "inventory tracker"),
    "policy": ("variant inventory policy", "continue selling when out of stock"),
    "status": ("status",),
    "published": ("published", "published on online store"),
    **{f"name{at}": (f"option{at} name",) for at in (1, 2, 3)},
    **{f"value{at}": (f"option{at} value",) for at in (1, 2, 3)},
}
_OPTIONS = (1, 2, 3)
_BULLET = re.compile(r"<li\b[^>]*>(.*?)</li\s*>", re.IGNORECASE | re.DOTALL)
_SELLS_ON = ("continue", "true")


class ShopifyExport(OfferFile[Mapping[str, str]]):
    """A file of comma-separated values, or with another delimiter. Every record is a row."""

    def entries(self) -> Iterator[Entry[Mapping[str, str]]]:
        """Yield the records; those of one handle are one product."""
        for record in records_of(self._path, None, self._max_bytes):
            cells = folded_cells(record.cells)
            ours = {name: next((cells[each] for each in of if cells.get(each)), "") for name, of in _COLUMNS.items()}
            yield Entry(ours["handle"], ours, where(self._path, record.line, record.fault))

    def offers(self, entries: Sequence[Entry[Mapping[str, str]]]) -> Iterator[Offer]:
        """Yield an offer for each line; the first one names the options of all."""
        head = next((entry.cells for entry in entries if entry.cells["title"]), entries[0].cells)
        named = {at: option_name(head[f"name{at}"], head[f"value{at}"]) for at in _OPTIONS}
        names = {at: name for at, name in named.items() if name}
        for entry in entries:
            cells = entry.cells
            options = {name: cells[f"value{at}"] for at, name in names.items()}
            yield Offer(
                fields=_fields(cells) if cells["title"] else {"parent_asin": cells["handle"]},
                # Shopify writes 0 where no weight was entered.
                details={
                    "Brand": cells["vendor"],
                    "Age Range": cells["age"],
                    **options,
                    "Item Weight": f"{cells['grams']} g" if cells["grams"].strip("0.") else "",
                },
                options=tuple(options),
                price=cells["price"],
                stock=_stock(cells),
                names=_names(names, cells),
            )


def option_name(name: str, value: str) -> str:
    """Return the name of an option; empty if it is the one that products without options have."""
    is_none = name.casefold() in ("title", "default title") or (not name and value.casefold() == "default title")
    return "" if is_none else name


def body_fields(body: str) -> dict[str, object]:
    """Return features (the bullets) and description (the rest) of a product's HTML."""
    return {"description": [_BULLET.sub(" ", body)], "features": _BULLET.findall(body)}


def _fields(cells: Mapping[str, str]) -> dict[str, object]:
    category, _ = _category(cells)
    return {
        "parent_asin": cells["handle"],
        "title": cells["title"],
        "store": cells["vendor"],
        "status": cells["status"],
        "published": cells["published"],
        **body_fields(cells["body"]),
        **category,
    }


def _names(options: Mapping[int, str], cells: Mapping[str, str]) -> dict[str, str]:
    names = {f"details.{name}": f"Option{at} Value" for at, name in options.items()}
    names |= {"details.Item Weight": "Variant Grams", "details.Age Range": "Google Shopping / Age Group"}
    names |= {"details.Brand": "Vendor", "store": "Vendor", "price": "Variant Price"}
    names |= {"title": "Title", "description": "Body (HTML)", "features": "Body (HTML)"}
    return names | _category(cells)[1]


def _category(cells: Mapping[str, str]) -> tuple[dict[str, list[str] | str], dict[str, str]]:
    return category_fields({"Product Category": cells["category"]}, {"Type": cells["type"]})


def _stock(cells: Mapping[str, str]) -> int | None:
    """Return the units that can be bought; None where the shop does not count them, or sells beyond them."""
    is_counted = cells["tracker"] and cells["policy"].casefold() not in _SELLS_ON
    units = whole_number(cells["stock"].removeprefix("-"))
    if not is_counted or units is None:
        return None
    return 0 if cells["stock"].startswith("-") else units
