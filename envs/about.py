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
    """What one environment declares about itself."""

    id: str
    """In capitals: ``CART``."""
    title: str
    version: str
    """Changes whenever scores are no longer comparable with earlier ones."""
    called: str
    """What the customer calls an intent of this kind when they come back to it: "the return"."""
    tool_names: tuple[str, ...]
    """The tools that the agent may call, in the order in which they are listed."""
    answer: type[Answer]
    axes: tuple[str, ...]
    """The difficulty axes that are live (SPEC §3): changing one of them alone changes the episode."""
    candidates: Callable[[Axes], float] | None = None
    """Returns among how many things an agent must choose blindly, without reading the customer: its chance of being
    right is one in so many (SPEC §11). None if a blind choice is never right."""
    needs: str = "more products, or products of which more is known"
    """What a catalog must at least hold to serve the environment: "four leaf categories"."""
    members: tuple[str, ...] = ()
    """Ids of the environments whose intents a journey combines; empty for a single task."""
    empties_shelves: bool = False
    """Whether drawing an episode makes products sold out from the start."""

    @cached_property
    def tools(self) -> Mapping[str, Tool[Any]]:
        """The tools that the agent may call, by name."""
        return {name: TOOLS[name] for name in self.tool_names}

    @cached_property
    def answer_schema(self) -> dict[str, Any]:
        """The JSON schema of the answer: a closed object, or under ``anyOf`` one for each intent it may name.

        Callers must not modify it.
        """
        forms = [flat_schema(form) for form in self.answer.forms()]
        return forms[0] if len(forms) == 1 else {"type": "object", "anyOf": forms}

    def chance(self, d: int) -> float:
        """Return the probability that a choice without reading the customer is right at difficulty ``d``."""
        return 0.0 if self.candidates is None else 1 / self.candidates(axes_of(d))

    def info(self, max_difficulty: int) -> EnvironmentInfo:
        """Return what a server tells about the environment; ``max_difficulty`` is the highest it can serve."""
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
