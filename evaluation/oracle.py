"""The oracle: knows the goal and acts through the tools.

It never gets the goal from a server. An episode is a function of its specification and the actions, so the oracle plays
the same episode in its own process. At every step it checks that both are equal, except for the customer's words if a
model chose them. It is the only agent that may import ``envs``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agent import Action, one_at_a_time
from ecom_rlve.models import Observation


class DivergedError(Exception):
    """The server's episode and the oracle's differ: another catalog, another version, or a fault."""


class Oracle:
    """An agent that scores the documented maximum."""

    def __init__(self, shop: Shop) -> None:
        """``shop`` must hold the server's catalog."""
        self._shop = shop
        self._mirror: Episode | None = None
        self._expected: Observation | None = None

    def act(self, result: StepResult) -> Action:
        """Return the next action of the environment's own solution."""
        if self._mirror is None:
            self._mirror = Episode(self._shop, EpisodeSpec.of(result.metadata), result.observation.episode_id)
            self._expected = self._mirror.opening
        elif self._expected is None or not _are_equal(result, self._expected):
            raise DivergedError(f"expected {self._expected}, the server says {result.observation}")
        mirror = self._mirror
        action = one_at_a_time(mirror.solve(), mirror.spec.style)
        self._expected = mirror.step(action)
        return action


def _are_equal(result: StepResult, expected: Observation) -> bool:
    seen = result.observation
    if result.metadata.simulator == "template":
        return seen == expected
    hidden: dict[str, Any] = {"user_message": ""}
    if seen.truncated or expected.truncated:
        # Longer words leave room for fewer cards.
        hidden |= {"tool_results": [], "truncated": None}
    return seen.model_copy(update=hidden) == expected.model_copy(update=hidden)


def oracles(catalog: str) -> Callable[[], Oracle]:
    """Return a maker of oracles that share one copy of the catalog from the given source."""
    shop = Shop.open(catalog)
    return lambda: Oracle(shop)
