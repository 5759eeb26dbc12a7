"""Projects that a shop can furnish: named sets of kinds of things that are bought together.

Curated themes (``data/projects.json``) name kinds by the last words of a category ("lamp" matches "desk lamps"). The
departments of a catalog are projects too, so that every catalog has some. If neither has enough kinds, there is one
project with all kinds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.constraints import Columns
from ecom_rlve.catalog.product import Category
from ecom_rlve.catalog.shop_words.inflection import singular
from ecom_rlve.envs.world.shop import Shop

LEAST_OF_A_KIND = 6
"""Products in stock at a known price that a category must have to be a kind of thing."""
_AT_ONCE = 1 << 18
"""Number of products that are counted at once, to save memory."""
_ALL = slice(None)


@dataclass(frozen=True, slots=True)
class Project:
    """A named set of kinds."""

    name: str
    """What it is called in a sentence, without an article: ``"home office"``."""
    plan: str
    """What the customer is doing: ``"setting up a home office"``."""
    kinds: tuple[str, ...]
    """Leaf categories that belong to it, in name order."""


def offered(shop: Shop, kind: str) -> NDArray[np.integer]:
    """Return the places, in its aisle, of a category's products on offer, cheapest first, ties by row.

    On offer: in stock at a known price. The array must not be written to.
    """
    return shop.cache.get(("offered", kind), lambda: _offered(shop, kind), lambda places: places.nbytes)


def are_offered(products: Columns, rows: slice = _ALL) -> NDArray[np.bool_]:
    """Tell for each product, or for those at ``rows``, whether it is in stock at a known price."""
    price = products.column("price")
    can_buy = (products.column("stock").values[rows] > 0) & (price.values[rows] > 0)
    is_vague = price.is_floor
    return np.asarray(can_buy if is_vague is None else can_buy & ~is_vague[rows])


def is_offered(catalog: Catalog, row: int) -> bool:
    """Tell whether one product is in stock at a known price."""
    return bool(are_offered(catalog, slice(row, row + 1))[0])


def _offered(shop: Shop, kind: str) -> NDArray[np.integer]:
    aisle = shop.aisle(kind)
    places = np.flatnonzero(are_offered(aisle))
    ordered = places[np.argsort(aisle.column("price").values[places], kind="stable")]
    return ordered.astype(np.uint16 if len(aisle) <= 2**16 else np.int32)


def usable_kinds(shop: Shop) -> tuple[str, ...]:
    """Return the leaf categories that can be a kind of thing, in name order; made once."""
    return shop.derive(_usable_kinds)


def _usable_kinds(shop: Shop) -> tuple[str, ...]:
    catalog = shop.catalog
    counts = np.zeros(len(catalog.categories), dtype=np.int64)
    for start in range(0, catalog.size, _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        codes = catalog.category_codes[some][are_offered(catalog, some)]
        counts += np.bincount(codes, minlength=len(counts))
    return tuple(
        catalog.categories[code].name for code in np.flatnonzero((counts >= LEAST_OF_A_KIND) & shop.are_kinds).tolist()
    )


def projects(shop: Shop, least: int) -> tuple[Project, ...]:
    """Return the themes and departments with at least ``least`` kinds; if there are none, the mixed project.

    Empty if the whole shop has fewer kinds. Made once.
    """
    return shop.derive(_projects, least)


def _projects(shop: Shop, least: int) -> tuple[Project, ...]:
    enough = tuple(project for project in shop.derive(_all_projects) if len(project.kinds) >= least)
    return enough or (mixed_project(shop),) * (len(usable_kinds(shop)) >= least)


def _all_projects(shop: Shop) -> list[Project]:
    categories = [shop.catalog.categories[shop.catalog.category_index[kind]] for kind in usable_kinds(shop)]
    return [*_themes(categories), *_departments(categories)]


def mixed_project(shop: Shop) -> Project:
    """Return the project with all kinds of the shop."""
    return Project("mixed shopping list", "working through a mixed shopping list", usable_kinds(shop))


def _project(name: str, plan: str, categories: Iterable[Category]) -> Project:
    """Return a project without the kinds that its own name or plan mentions."""
    words = f"{name} {plan}"
    kinds = (kind.name for kind in categories if kind.singular not in words and kind.plural not in words)
    return Project(name, plan, tuple(kinds))


def _themes(categories: Sequence[Category]) -> list[Project]:
    text = resources.files("ecom_rlve.envs.tasks.bundle.data").joinpath("projects.json").read_text("utf-8")
    by_ending: dict[str, list[Category]] = {}
    for kind in categories:
        words = _normalised(kind.name).split(" ")
        for start in range(len(words)):
            by_ending.setdefault(" ".join(words[start:]), []).append(kind)
    themes = []
    for theme in json.loads(text)["projects"]:
        members = {kind.name: kind for ending in theme["kinds"] for kind in by_ending.get(ending, ())}
        themes.append(_project(theme["name"], theme["plan"], [members[name] for name in sorted(members)]))
    return themes


def _normalised(kind: str) -> str:
    *modifiers, head = kind.casefold().split()
    return " ".join([*modifiers, singular(head)])


def _departments(categories: Sequence[Category]) -> list[Project]:
    grouped: dict[str, list[Category]] = {}
    for kind in categories:
        grouped.setdefault(kind.department.casefold(), []).append(kind)
    return [
        _project(f"{department} shopping list", f"shopping in the {department} department", members)
        for department, members in sorted(grouped.items())
    ]
