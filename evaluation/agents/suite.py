"""What the folder of an environment adds to what every environment is tried with (SPEC §11)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.random import Generator

from ecom_rlve.evaluation.agent import Agent
from ecom_rlve.evaluation.expert.skill import Skill

Maker = Callable[[Generator], Agent]
"""Makes an agent for one episode; what it draws comes from the generator."""


@dataclass(frozen=True, slots=True)
class Blind:
    """A policy that chooses without reading the customer."""

    make: Maker
    picks: bool = False
    """Picks one of the candidates that the environment declares, and is right by chance; otherwise it never is."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The agents that are written for one environment; ``suite.py`` of its folder exports it as ``SUITE``."""

    env_id: str
    expert: Callable[[Skill], Agent]
    lazy: Mapping[str, Maker] = field(default_factory=dict)
    """Further policies that do it badly: from d = 3 on they must lie below the expert, like its weaker rungs."""
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the answer that needs no knowledge, where there is a better guess than the schema gives."""
    empty: Mapping[str, Maker] = field(default_factory=dict)
    """Further policies that never do the job."""
    blind: Mapping[str, Blind] = field(default_factory=dict)
