"""Which values of a catalog an argument may have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ecom_rlve.catalog.errors import UnknownAttributeError
from ecom_rlve.envs.world.shop import Shop

_MOST = 2000
"""Most values that are offered; real catalogs have more brands than a list can hold, and those are typed."""


def choices_of(shop: Shop, schemas: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the catalog's values for each argument of the tools that names an attribute with known values."""
    names = {
        name
        for schema in schemas
        if schema["function"]["name"].startswith("catalog_")
        for name, field in schema["function"].get("parameters", {}).get("properties", {}).items()
        if field.get("type") == "string" and "enum" not in field
    }
    return choices_of_names(shop, sorted(names))


def choices_of_names(shop: Shop, names: Iterable[str]) -> dict[str, list[str]]:
    """Return the catalog's values for each of these attributes that has known ones, and not too many."""
    return {name: values for name in names if (values := _values(shop, name))}


def _values(shop: Shop, name: str) -> list[str]:
    try:
        vocabulary = shop.catalog.column(name).vocabulary
    except UnknownAttributeError:
        return []
    return [] if vocabulary is None or len(vocabulary) > _MOST else sorted(map(str, vocabulary))
