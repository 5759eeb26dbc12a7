"""What an environment is: what it declares, how hard it can be, and how it draws an episode."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from ecom_rlve.envs.about import About
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.scenario import Scenario
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.streams import Streams


class Environment(ABC):
    """A family of tasks. Instances hold no state; every method is a function of its arguments.

    An environment of a single task implements :class:`~ecom_rlve.envs.errand.Errand` too:
    ``class Lookup(Environment, Errand[LookupGoal])``. JOURNEY draws intents of the others and has no errand of its own.
    """

    about: ClassVar[About]

    @abstractmethod
    def brief(self, axes: Axes) -> str:
        """Return the description of the agent's job, a part of ``instructions``."""

    @abstractmethod
    def max_difficulty(self, shop: Shop) -> int:
        """Return the highest difficulty that the catalog can serve, -1 if it can serve none."""

    @abstractmethod
    def draw(self, world: World, streams: Streams) -> Scenario:
        """Draw an episode in a world, with target products of its split.

        Raises ``GenerationError`` if 50 redraws find no goal.
        """
