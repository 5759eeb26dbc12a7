"""Factories of episodes and worlds over a small real shop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ecom_rlve.envs.difficulty import axes_of, overridden
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import Format, Style
from ecom_rlve.streams import Streams


@pytest.fixture(scope="session")
def start(shop: Shop) -> Callable[..., Episode]:
    """Return a maker of CART episodes: ``start(difficulty, seed, style=…, options={…}, t_max=2, p_missing=1.0)``."""

    def started(
        difficulty: int = 0,
        seed: int = 0,
        *,
        style: Style = "turn",
        format: Format = "strict",
        options: dict[str, Any] | None = None,
        **axes: float,
    ) -> Episode:
        spec = EpisodeSpec("CART", difficulty, seed, style=style, axes=tuple(axes.items()), format=format)
        return Episode(shop, spec, "episode", **(options or {}))

    return started


@pytest.fixture(scope="session")
def world_of(shop: Shop) -> Callable[..., World]:
    """Return a maker of worlds without an episode: ``world_of(seed, difficulty, top_k=200)``."""

    def made(seed: int = 0, difficulty: int = 0, **axes: float) -> World:
        world = World(shop, overridden(axes_of(difficulty), axes), Streams("test world", seed))
        world.draw_history = lambda: (3, 1, 4)
        return world

    return made


@pytest.fixture(scope="session")
def snapshot() -> Callable[[World], tuple[Any, ...]]:
    """Return a function that copies all of a world that tools may change, and nothing that they may show."""

    def copied(world: World) -> tuple[Any, ...]:
        return (
            [(line.line_id, line.row, line.variant, line.quantity) for line in world.cart],
            world.changes,
            world.lines_made,
            list(world.returns),
            sorted(world.sold_out),
            sorted(world.sold_out_variants),
            [world.stock(row) for row in range(world.shop.catalog.size)],
            world.today,
            world.history,
        )

    return copied
