"""The mapping file: TOML that says which column of a source is which field of a product."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ecom_rlve.catalog.attributes import ATTRIBUTES, NUMERIC
from ecom_rlve.catalog.currency import checked_code
from ecom_rlve.catalog.errors import SourceError

PLAIN_FIELDS = (
    *("id", "title", "description", "features", "category", "brand", "store", "price", "sale_price", "currency"),
    *("rating", "rating_count", "group", "stock", "status", "published", "archived"),
)
"""Fields that a column may be, besides the typed attributes."""
FIELDS = (*PLAIN_FIELDS, *ATTRIBUTES)
NEEDED = ("id", "title")
CENTS = "cents"
"""The unit of a price in hundredths of its currency."""


class CatalogFacts(BaseModel):
    """What is true of all rows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    currency: str | None = None
    """Code of the prices' currency; None = a column states it, or the person who builds the catalog."""
    category_separator: str = ">"
    """What stands between the levels of a category in one cell."""


class ColumnMapping(BaseModel):
    """A mapping file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: Mapping[str, str]
    """Field by column. Several columns may be one field: they are joined, or are the levels of a category."""
    units: Mapping[str, str] = Field(default_factory=dict)
    """Unit of the bare numbers of a field: ``weight = "kg"``, ``price = "cents"``."""
    catalog: CatalogFacts = Field(default_factory=CatalogFacts)

    def of(self, field: str) -> tuple[str, ...]:
        """Return the columns that are a field, in the order of the file."""
        return tuple(column for column, each in self.columns.items() if each == field)


def read_mapping(path: Path) -> ColumnMapping:
    """Read a mapping file; raises :class:`SourceError`, naming the file, what is wrong and what to do."""
    try:
        content = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SourceError(
            f"{path}: no TOML ({error}); ecom-rlve catalog map SOURCE writes one to begin with"
        ) from error
    return _checked(path, content)


def _checked(path: Path, content: Mapping[str, Any]) -> ColumnMapping:
    try:
        mapping = ColumnMapping.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise SourceError(f"{path}: {where}: {first['msg']}; there are [columns], [units] and [catalog]") from error
    for field in (*mapping.columns.values(), *mapping.units):
        if field not in FIELDS:
            near = get_close_matches(field, FIELDS, 1)
            meant = f", did you mean {near[0]!r}?" if near else ""
            raise SourceError(f"{path}: {field!r} is no field{meant}; there are {', '.join(FIELDS)}")
    strange = sorted(set(mapping.units) - {"price", "sale_price", *NUMERIC})
    if strange or any(mapping.units.get(name, CENTS) != CENTS for name in ("price", "sale_price")):
        raise SourceError(
            f"{path}: a unit is for a number ({', '.join(NUMERIC)}), or {CENTS!r} for a price; "
            f"take {', '.join(strange) or 'price'} out of [units]"
        )
    missing = [field for field in NEEDED if not mapping.of(field)]
    if missing:
        raise SourceError(f"{path}: no column is the {missing[0]}; a product needs {' and '.join(NEEDED)}")
    if mapping.catalog.currency is not None:
        facts = mapping.catalog.model_copy(update={"currency": checked_code(mapping.catalog.currency)})
        return mapping.model_copy(update={"catalog": facts})
    return mapping
