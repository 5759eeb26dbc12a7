"""The kinds of products of the procedural catalog, read from ``data/department_*.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from ecom_rlve.catalog.product import Category


@dataclass(frozen=True, slots=True)
class Brand:
    """One invented brand."""

    name: str
    tier: float
    """Factor on prices; 1 is the middle of the market."""
    models: tuple[str, ...]
    """Product lines: the same in all categories of the department, and of no other brand in it."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A lognormal distribution of a numeric attribute, cut at both ends and rounded to steps."""

    median: float
    spread: float
    """Standard deviation of the logarithm."""
    low: float
    high: float
    step: float
    """Values are multiples of this."""


@dataclass(frozen=True, slots=True)
class ShopCopy:
    """How a department's texts are written: templates, and phrases that state no attribute."""

    titles: tuple[str, ...]
    openings: tuple[str, ...]
    closings: tuple[str, ...]
    bullets: tuple[str, ...]
    uses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """One leaf category and everything from which its products are drawn."""

    category: Category
    noun: str
    """What titles call the product."""
    brands: tuple[Brand, ...]
    shop_copy: ShopCopy
    price_median: float
    """Units of money."""
    price_spread: float
    """Standard deviation of the price's logarithm."""
    discrete: Mapping[str, Mapping[str, int]]
    """Weights of the values by attribute; ``model`` and the variant attribute are not among them."""
    numeric: Mapping[str, Spread]


@cache
def departments() -> tuple[tuple[Kind, ...], ...]:
    """Return all kinds, grouped by department, in the order of the files' names."""
    folder = resources.files("ecom_rlve.catalog.data")
    files = sorted((file.name, file) for file in folder.iterdir() if file.name.startswith("department_"))
    return tuple(_kinds(json.loads(file.read_text("utf-8"))) for _, file in files)


def _kinds(data: dict[str, Any]) -> tuple[Kind, ...]:
    brands = tuple(Brand(name, brand["tier"], tuple(brand["models"])) for name, brand in data["brands"].items())
    parts = ("titles", "openings", "closings", "bullets", "uses")
    shop_copy = ShopCopy(**{part: tuple(data[part]) for part in parts})
    return tuple(_kind(data["name"], brands, shop_copy, entry) for entry in data["categories"])


def _kind(department: str, brands: tuple[Brand, ...], shop_copy: ShopCopy, entry: dict[str, Any]) -> Kind:
    category = Category(
        name=entry["name"],
        path=(department, entry["group"], entry["name"].title()),
        singular=entry["singular"],
        plural=entry["plural"],
        variant_attribute=entry["variant_attribute"],
    )
    return Kind(
        category=category,
        noun=entry["noun"],
        brands=brands,
        shop_copy=shop_copy,
        price_median=entry["price"]["median"],
        price_spread=entry["price"]["spread"],
        discrete=entry["discrete"],
        numeric={name: Spread(**spread) for name, spread in entry["numeric"].items()},
    )
