"""What an environment declares about itself, as data that server, documentation and evaluation read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.tools.tool import Tool, flat_schema


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
