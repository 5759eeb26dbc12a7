"""How many replicas there should be."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field


class Scale(BaseModel):
    """How many replicas there are, and what each of them takes."""

    model_config = ConfigDict(extra="forbid")

    least: int = Field(default=2, ge=1)
    """Fewest replicas."""
    most: int = Field(default=8, ge=1)
    """Most replicas."""
    live_each: int = Field(default=400, ge=1)
    """Live episodes that one replica should hold."""
    cpus: float = Field(default=1.0, gt=0)
    """Processors that are set aside for a replica, which uses one at the most."""
    down_after_s: float = Field(default=600.0, ge=0)
    """Seconds for which fewer would have been enough before one goes: rollouts come in waves."""


def replicas_wanted(live: Iterable[float], live_each: int, least: int, most: int) -> int:
    """Return how many replicas should hold so many live episodes, given by replica.

    >>> [replicas_wanted(live, 400, 2, 8) for live in ([], [300, 90], [500, 301], [9000])]
    [2, 2, 3, 8]
    """
    return max(least, min(most, math.ceil(sum(live) / live_each)))
