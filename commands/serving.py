"""Which environments a catalog can serve, and what it lacks to serve the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop

_NEEDS: Mapping[str, str] = {
    "BUNDLE": "two leaf categories with six products in stock at an exact price",
    "CART": "leaf categories with six products that what is known of them tells apart",
    "JOURNEY": "two other environments that it serves",
    "PD": "200 products of which two properties are known, in leaf categories with eight products or more",
    "POLICY": "a department",
    "RETURN": "four leaf categories",
    "STATUS": "four leaf categories",
    "SUB": "200 products with a title of their own, two known properties and a word of what must stay the same, in "
    "leaf categories with 27 products or more",
}
_SOMETHING = "more products, or products of which more is known"


@dataclass(frozen=True, slots=True)
class Served:
    """What a catalog can do for one environment."""

    title: str
    max_difficulty: int
    """Highest difficulty that it can serve; -1 = none."""
    lacks: str | None
    """What the environment needs at least, if the catalog cannot serve it."""


def served(shop: Shop) -> dict[str, Served]:
    """Return what a shop can do for every environment, by id."""
    found = {}
    for env_id, environment in environments().items():
        most = environment.max_difficulty(shop)
        lacks = f"it needs {_NEEDS.get(env_id, _SOMETHING)}" if most < 0 else None
        found[env_id] = Served(environment.about.title, most, lacks)
    return found
