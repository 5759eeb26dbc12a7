"""Which environments a catalog can serve, and what it lacks to serve the others."""

from __future__ import annotations

from dataclasses import dataclass

from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop


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
        lacks = f"it needs {environment.about.needs}" if most < 0 else None
        found[env_id] = Served(environment.about.title, most, lacks)
    return found
