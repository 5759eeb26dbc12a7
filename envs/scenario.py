"""A drawn episode: one world, and the customer's intents in it, one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.world.world import World


@dataclass(frozen=True, slots=True)
class Scenario:
    """What an environment draws for an episode: one intent in a single task, several in a journey."""

    world: World
    intents: tuple[Intent[Any], ...]
    """At least one, in the order in which the customer begins them."""
    redraws: int = 0
    """Draws that were rejected before this one."""

    @property
    def turn_budget(self) -> int:
        """The agent's turns in the episode: T_max for each intent (SPEC §3)."""
        return self.world.axes.t_max * len(self.intents)


def single(intent: Intent[Any]) -> Scenario:
    """Return the scenario of a single task."""
    return Scenario(intent.world, (intent,), intent.redraws)
