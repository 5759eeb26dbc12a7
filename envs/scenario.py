"""A drawn episode: one world, and the intents that the customer has in it, one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.world.world import World


@dataclass(frozen=True, slots=True)
class Scenario:
    """What an environment drew: a single task has one intent, a journey several."""

    world: World
    intents: tuple[Intent[Any], ...]
    """In the order in which they are begun; at least one."""
    redraws: int = 0
    """Draws that came to nothing before this one."""

    @property
    def turn_budget(self) -> int:
        """T_max of the episode: each intent adds its own (SPEC §3)."""
        return self.world.axes.t_max * len(self.intents)


def single(intent: Intent[Any]) -> Scenario:
    """Return the scenario of a single task."""
    return Scenario(intent.world, (intent,), intent.redraws)
