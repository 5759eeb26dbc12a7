"""A mapping to begin with: which column is probably which field, from their names and the first rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from ecom_rlve.catalog.attributes import ATTRIBUTES, NUMERIC
from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.shop_words.currencies import is_code
from ecom_rlve.catalog.shop_words.prices import parse_price
from ecom_rlve.catalog.sources.files.headers import folded
from ecom_rlve.catalog.sources.mapping.records import Cells, RecordSource

ROWS = 20
"""So many rows are looked at."""
_SHOWN = 40
_NAMES: dict[str, tuple[str, ...]] = {
    "id": (
        *("id", "sku", "product id", "item id", "item number", "article number", "asin", "ean", "gtin", "upc"),
        *("code", "product code", "part number", "mpn", "artikelnummer", "art nr", "artnr", "référence", "ref"),
        *("referencia", "codice", "artikelnr", "kod", "uniq id", "handle", "number"),
    ),
    "title": (
        *("title", "name", "product name", "product title", "item name", "product", "artikel", "artikelname"),
        *("produktname", "bezeichnung", "titel", "nom", "nom du produit", "titre", "nombre", "título", "nome"),
        *("naam", "productnaam", "namn", "nazwa", "navn"),
    ),
    "description": (
        *("description", "product description", "long description", "short description", "body", "details", "text"),
        *("beschreibung", "langtext", "kurzbeschreibung", "descripción", "descrizione", "omschrijving", "beskrivning"),
    ),
    "features": ("features", "highlights", "bullet points", "bullets", "about product", "about this item"),
    "category": (
        *("category", "categories", "product category", "category path", "product type", "department", "type"),
        *("kategorie", "warengruppe", "catégorie", "categoria", "categoría", "categorie", "kategori", "kategoria"),
        *("product category tree", "category name", "main category", "sub category", "subcategory"),
    ),
    "brand": ("brand", "brand name", "manufacturer", "marke", "hersteller", "marque", "marca", "merk", "varumärke"),
    "store": ("store", "seller", "vendor", "shop", "merchant", "supplier"),
    "price": (
        *("price", "unit price", "regular price", "list price", "retail price", "selling price", "amount", "cost"),
        *(
            "preis",
            "vk",
            "vkpreis",
            "verkaufspreis",
            "prix",
            "precio",
            "prezzo",
            "prijs",
            "pris",
            "cena",
            "price amount",
        ),
        *("msrp", "rrp", "actual price", "price value"),
    ),
    "sale_price": ("sale price", "special price", "discounted price", "offer price", "final price", "angebotspreis"),
    "currency": ("currency", "currency code", "price currency", "währung", "devise", "moneda", "valuta"),
    "rating": ("rating", "average rating", "stars", "review rating", "avg rating", "customer review average"),
    "rating_count": ("rating count", "ratings", "reviews", "review count", "number of reviews", "rating number"),
    "group": ("group", "group id", "item group id", "parent", "parent id", "parent sku", "variant group", "style id"),
    "stock": ("stock", "quantity", "qty", "inventory", "stock quantity", "bestand", "lager", "available quantity"),
    "status": ("status", "state", "product status"),
    "published": ("published", "active", "is active", "visible", "enabled", "online"),
}
_WORDS: dict[str, tuple[str, ...]] = {
    "color": ("color", "colour", "farbe", "couleur", "colore", "kleur", "färg", "kolor"),
    "size": ("size", "größe", "grösse", "groesse", "taille", "talla", "taglia", "maat", "storlek"),
    "material": ("material", "fabric", "matière", "materiale", "materiaal"),
    "weight": ("weight", "item weight", "net weight", "gewicht", "poids", "peso", "vikt"),
    "length": ("length", "länge", "longueur", "lengte"),
    "model": ("model", "model name", "modell", "modèle", "modelo"),
}
"""Other names of attributes."""
_UNIT = re.compile(r"[\s_(\[]+\(?(kg|g|lbs?|oz|cm|mm|m|in|inch|ml|l|w|kw|h)[)\]]?$", re.IGNORECASE)
_CODE = re.compile(r"[\s_(\[]+\(?[a-z]{3}[)\]]?$", re.IGNORECASE)
_LEVEL = re.compile(r"^(.*?)(?: level)? ?\d$")
_SEPARATORS = (" > ", ">", " » ", " / ", "|", "/")
_HEADER = """\
# Which column is which field. Look through it: it was guessed from the names and from twenty rows.
# Fields: {fields}.
# A price may be in hundredths (price = "cents" in [units]); a number without a unit needs one there (weight = "kg").
"""


def proposed_mapping(source: RecordSource) -> str:
    """Return a mapping file for a source as TOML; raises :class:`SourceError` where it cannot be read, or has no rows.

    Columns that no field was found for stand in comments, each with a value.
    """
    rows = [found.cells for found in islice(source.records(), ROWS) if not found.fault]
    if not rows:
        raise SourceError(f"{source.name}: holds no rows to look at; give a file with products")
    columns = list(dict.fromkeys(name for row in rows for name in row))
    fields = _fields(columns, rows)
    return "\n".join(_lines(columns, rows, fields)) + "\n"


def _fields(columns: Sequence[str], rows: Sequence[Cells]) -> dict[str, str]:
    """Return the field of each column that probably is one. A field has one column, but for texts and levels."""
    found: dict[str, str] = {}
    ranked = sorted((rank, at, column, field) for at, column in enumerate(columns) for rank, field in _meant(column))
    for _, _, column, field in ranked:
        is_free = field not in found.values() or field in ("category", "description", "features")
        if column not in found and is_free and _fits(field, column, rows):
            found[column] = field
    found |= {column: field for field, column in _guessed(columns, rows, found)}
    return {column: found[column] for column in columns if column in found}


def _meant(column: str) -> Iterator[tuple[int, str]]:
    """Yield the fields that a name may mean, each with a rank, the surest being the lowest."""
    name = folded(column.replace(".", " ").replace("-", " "))
    level = _LEVEL.fullmatch(name)
    bare = (_UNIT.sub("", name).strip(), _CODE.sub("", name).strip(), level[1] if level else "")
    for plain in dict.fromkeys((name, *bare)):
        for field, names in (*_NAMES.items(), *_WORDS.items()):
            if plain and plain in names:
                yield names.index(plain), field
        attribute = plain.replace(" ", "_")
        if attribute in ATTRIBUTES:
            yield 0, attribute


def _fits(field: str, column: str, rows: Sequence[Cells]) -> bool:
    """Say whether the values can be of a field: an id must be different in all rows, a price be one."""
    values = _values(column, rows)
    if field == "id":
        return len(values) == len(rows) and len(set(values)) > len(rows) / 2
    if field in ("price", "sale_price"):
        return any(parse_price(value).low_cents for value in values)
    if field in ("rating", "rating_count", "stock"):
        return any(re.search(r"\d", value) for value in values)
    return bool(values)


def _guessed(columns: Sequence[str], rows: Sequence[Cells], found: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield columns for what a product needs, where no name tells: the first that is different in all rows is the id.

    The title is the column of different texts of some words.
    """
    left = [column for column in columns if column not in found]
    unique = [column for column in left if len(set(_values(column, rows))) == len(rows)]
    if "id" not in found.values():
        plain = next((column for column in unique if " " not in "".join(_values(column, rows))), None)
        if plain is not None:
            yield "id", plain
            unique.remove(plain)
    if "title" not in found.values():
        worded = [column for column in unique if 1 <= _blanks(column, rows) < 30]
        if worded:
            yield "title", max(worded, key=lambda column: _blanks(column, rows))


def _blanks(column: str, rows: Sequence[Cells]) -> float:
    values = _values(column, rows)
    return sum(value.count(" ") for value in values) / max(1, len(values))


def _values(column: str, rows: Sequence[Cells]) -> list[str]:
    cells = (row.get(column, "") for row in rows)
    return [text for cell in cells if (text := cell if isinstance(cell, str) else "\n".join(cell))]


def _lines(columns: Sequence[str], rows: Sequence[Cells], fields: Mapping[str, str]) -> Iterator[str]:
    yield _HEADER.format(fields=", ".join((*_NAMES, *ATTRIBUTES)))
    yield "[columns]"
    for column in columns:
        example = next(iter(_values(column, rows)), "")
        told = _key(example[:_SHOWN])
        field = fields.get(column)
        yield f"{_key(column)} = {_key(field)}  # {told}" if field else f'# {_key(column)} = ""  # {told}'
    for field in ("id", "title"):
        if field not in fields.values():
            yield f'# no column looks like the {field}, which a product needs: name it, "COLUMN" = "{field}"'
    units = {
        field: match[1] for column, field in fields.items() if field in NUMERIC and (match := _UNIT.search(column))
    }
    yield "\n[units]"
    yield from (f'{field} = "{unit.casefold()}"' for field, unit in units.items())
    yield "\n[catalog]"
    currency = _currency(rows, fields)
    yield f'currency = "{currency}"' if currency else '# currency = "EUR"'
    yield f"category_separator = {_key(_separator(rows, fields))}"


def _currency(rows: Sequence[Cells], fields: Mapping[str, str]) -> str | None:
    """Return the currency that prices, or the name of their column, state; None where a column of its own does."""
    if "currency" in fields.values():
        return None
    stated: Counter[str] = Counter()
    for column, field in fields.items():
        if field == "price":
            stated.update(word for word in re.findall("[A-Z]{3}", column) if is_code(word))
            stated.update(code for text in _values(column, rows) if (code := parse_price(text).currency))
    return stated.most_common(1)[0][0] if stated else None


def _separator(rows: Sequence[Cells], fields: Mapping[str, str]) -> str:
    texts = [text for column, field in fields.items() if field == "category" for text in _values(column, rows)]
    return next((each.strip() for each in _SEPARATORS if sum(each in text for text in texts) * 2 > len(texts)), ">")


def _key(text: str) -> str:
    """Return a text as TOML writes it, which escapes one character more than JSON does."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
