"""Projects that a shop can furnish: named sets of kinds of things that are bought together.

Curated themes (``data/projects.json``) name kinds by the end of what a catalog may call them ("lamp" is found in "desk
lamps"). A catalog's departments are projects too, so that every catalog has some; one of everything serves where
neither has enough kinds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.inflection import singular
from ecom_rlve.catalog.product import Category
from ecom_rlve.envs.shop import Shop

LEAST_OF_A_KIND = 6
"""Products in stock at a known price that a category needs to serve as a kind of thing."""


@dataclass(frozen=True, slots=True)
class Project:
    """A named set of kinds."""

    name: str
    """What it is called in a sentence, without an article: ``"home office"``."""
    plan: str
    """What the customer is doing: ``"setting up a home office"``."""
    kinds: tuple[str, ...]
    """Leaf categories that belong to it, in name order."""


@lru_cache(maxsize=8192)
def offers(shop: Shop, kind: str) -> NDArray[np.int32]:
    """Return the products of a leaf category that are in stock at a known price, cheapest first, ties by row."""
    catalog = shop.catalog
    rows = catalog.rows_of_category(kind)
    price, stock = catalog.column("price"), catalog.column("stock").values
    is_offered = (stock[rows] > 0) & (price.values[rows] > 0)
    if price.is_floor is not None:
        is_offered &= ~price.is_floor[rows]
    rows = rows[is_offered]
    return rows[np.argsort(price.values[rows], kind="stable")]


@lru_cache(maxsize=8)
def usable_kinds(shop: Shop) -> tuple[str, ...]:
    """Return the leaf categories that can serve as a kind of thing, in name order."""
    return tuple(kind for kind in shop.kinds(LEAST_OF_A_KIND) if len(offers(shop, kind)) >= LEAST_OF_A_KIND)


@lru_cache(maxsize=64)
def projects(shop: Shop, least: int) -> tuple[Project, ...]:
    """Return the themes and departments that have at least ``least`` kinds in the shop, else its one mixed project.

    None where the whole shop has fewer.
    """
    categories = [shop.catalog.categories[shop.catalog.category_index[kind]] for kind in usable_kinds(shop)]
    found = [*_themes(categories), *_departments(categories)]
    enough = tuple(project for project in found if len(project.kinds) >= least)
    return enough or (mixed_project(shop),) * (len(categories) >= least)


def mixed_project(shop: Shop) -> Project:
    """Return the project to which every kind in the shop belongs."""
    return Project("mixed shopping list", "working through a mixed shopping list", usable_kinds(shop))


def _project(name: str, plan: str, categories: Iterable[Category]) -> Project:
    """Return a project without the kinds that its own words would give away."""
    words = f"{name} {plan}"
    kinds = (kind.name for kind in categories if kind.singular not in words and kind.plural not in words)
    return Project(name, plan, tuple(kinds))


def _themes(categories: Sequence[Category]) -> list[Project]:
    text = resources.files("ecom_rlve.envs.data").joinpath("projects.json").read_text("utf-8")
    named = [(f" {_normalised(kind.name)}", kind) for kind in categories]
    themes = []
    for theme in json.loads(text)["projects"]:
        endings = tuple(f" {ending}" for ending in theme["kinds"])
        members = (kind for name, kind in named if name.endswith(endings))
        themes.append(_project(theme["name"], theme["plan"], members))
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
