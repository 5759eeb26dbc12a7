"""What an environment declares about itself, as data that server, documentation and evaluation read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.difficulty import Axes, axes_of
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.tools.tool import Tool, flat_schema
from ecom_rlve.models import MAX_DIFFICULTY, EnvironmentInfo


@dataclass(frozen=True)
class About:
    """The declarations of one environment."""

    id: str
    """Capitals: ``CART``."""
    title: str
    version: str
    """Changes where scores stop being comparable."""
    called: str
    """What the customer calls the errand when they come back to it: "the return"."""
    tool_names: tuple[str, ...]
    """The tools on offer, in the order in which they are shown."""
    answer: type[Answer]
    axes: tuple[str, ...]
    """The difficulty axes that are live (SPEC §3): moving one of them alone moves the episode."""
    candidates: Callable[[Axes], float] | None = None
    """How many things of the kind that is wanted the world holds, from which one who does not hear the customer picks
    the right one by chance alone (SPEC §11); None where such a pick is never right."""
    needs: str = "more products, or products of which more is known"
    """What a catalog must hold at the least to serve it: "four leaf categories"."""
    members: tuple[str, ...] = ()
    """Ids of the environments whose errands it is made of (JOURNEY); empty where it has errands of its own."""
    empties_shelves: bool = False
    """Products are sold out from the start."""

    @cached_property
    def tools(self) -> Mapping[str, Tool[Any]]:
        """The tools on offer by name."""
        return {name: TOOLS[name] for name in self.tool_names}

    @property
    def answer_schema(self) -> dict[str, Any]:
        """The JSON schema of the answer."""
        return flat_schema(self.answer)

    def chance(self, d: int) -> float:
        """Return the probability that a pick without hearing the customer is right at a difficulty."""
        return 0.0 if self.candidates is None else 1 / self.candidates(axes_of(d))

    def info(self, max_difficulty: int) -> EnvironmentInfo:
        """Return what a server tells of the environment, whose catalog serves it up to ``max_difficulty``."""
        levels = range(MAX_DIFFICULTY + 1) if self.candidates is not None else ()
        return EnvironmentInfo(
            env_id=self.id,
            title=self.title,
            version=self.version,
            max_difficulty=max_difficulty,
            tools=list(self.tool_names),
            answer_schema=self.answer_schema,
            axes=list(self.axes),
            chance=[self.chance(d) for d in levels],
            members=list(self.members),
        )
