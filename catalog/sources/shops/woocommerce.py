"""Product exports of WooCommerce (CSV): a variable product and its variations are one product with variants."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ecom_rlve.catalog.shop_words.prices import parse_price
from ecom_rlve.catalog.sources.category_paths import category_fields
from ecom_rlve.catalog.sources.delimited import records_of
from ecom_rlve.catalog.sources.files.headers import folded_cells
from ecom_rlve.catalog.sources.shops.offers import Entry, Offer, OfferFile, where, whole_number

_ATTRIBUTE = re.compile(r"attribute (\d+) name")
_WEIGHT = re.compile(r"weight \((kg|g|lbs?|oz)\)")
_BY_ID = "id:"
_SOLD_OUT = ("0", "no", "outofstock", "false")


class WooCommerceExport(OfferFile[Mapping[str, str]]):
    """A file of comma-separated values, or with another delimiter."""

    def entries(self) -> Iterator[Entry[Mapping[str, str]]]:
        """Yield the records. A variation names its product by that one's SKU, or by its number if it has none."""
        skus: dict[str, str] = {}
        for record in records_of(self._path, None, self._max_bytes):
            cells = folded_cells(record.cells)
            parent, sku, number = (cells.get(name, "") for name in ("parent", "sku", "id"))
            kinds = {kind.strip() for kind in cells.get("type", "").casefold().split(",")}
            group = ""
            if "variation" in kinds:
                group = skus.get(parent.removeprefix(_BY_ID), parent) if parent.startswith(_BY_ID) else parent
            elif "variable" in kinds:
                group = skus[number] = sku or f"{_BY_ID}{number}"
            yield Entry(group, cells, where(self._path, record.line, record.fault))

    def offers(self, entries: Sequence[Entry[Mapping[str, str]]]) -> Iterator[Offer]:
        """Yield the product, and then its variations, which alone have prices and options."""
        is_variation = ["variation" in entry.cells.get("type", "").casefold() for entry in entries]
        ordered = sorted(zip(is_variation, range(len(entries)), entries, strict=True), key=lambda each: each[:2])
        has_parent = not ordered[0][0]
        for is_one, _, entry in ordered:
            yield _offer(entry.cells, is_head=not (is_one and has_parent))


def _offer(cells: Mapping[str, str], *, is_head: bool) -> Offer:
    price = _price_column(cells)
    attributes = _attributes(cells)
    weight = next(((name, match[1]) for name in cells if (match := _WEIGHT.fullmatch(name))), ("", ""))
    state = {"published": "private" if cells.get("published") == "0" else cells.get("published", "")}
    names = {f"details.{name}": column for name, (column, _) in attributes.items()}
    names |= {"price": price.capitalize(), "details.Item Weight": weight[0].capitalize(), "title": "Name"}
    fields: dict[str, object] = dict(state)
    if is_head:
        category, category_names = _category(cells.get("categories", ""))
        names |= category_names
        fields |= {
            "parent_asin": cells.get("id") or cells.get("sku", ""),
            "title": cells.get("name", ""),
            "description": [cells.get("short description", ""), cells.get("description", "")],
            **category,
        }
    values = {name: value for name, (_, value) in attributes.items() if "," not in value}
    is_sold_out = cells.get("in stock?", "").casefold() in _SOLD_OUT
    units = cells.get("stock", "").partition(".")[0]
    return Offer(
        fields=fields,
        details={
            "Brand": cells.get("brands", "").partition(",")[0].strip(),
            **values,
            "Item Weight": f"{cells[weight[0]]} {weight[1]}" if weight[0] and cells[weight[0]] else "",
        },
        options=() if is_head else tuple(values),
        price=cells.get(price, ""),
        stock=0 if is_sold_out else whole_number(units),
        names=names,
    )


def _price_column(cells: Mapping[str, str]) -> str:
    """Return the column of the price to pay: the sale price, unless the sale is limited to some time."""
    is_limited = any(cells.get(f"date sale price {end}") for end in ("starts", "ends"))
    is_sale = not is_limited and parse_price(cells.get("sale price")).low_cents is not None
    return "sale price" if is_sale else "regular price"


def _attributes(cells: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return column and value by the name of the attribute."""
    found: dict[str, tuple[str, str]] = {}
    for column, name in cells.items():
        match = _ATTRIBUTE.fullmatch(column)
        if match and name:
            values = f"attribute {match[1]} value(s)"
            found[name] = (values.capitalize(), cells.get(values, ""))
    return found


def _category(text: str) -> tuple[dict[str, list[str] | str], dict[str, str]]:
    """Return the first of several categories that is a path, or else the first."""
    paths = [path.strip() for path in re.split(r"(?<!\\),", text)]
    path = next((path for path in paths if ">" in path), paths[0])
    return category_fields({"Categories": path.replace("\\,", ",")}, {})
