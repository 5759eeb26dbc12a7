"""A drawn episode: the hidden goal, its world, and what the customer could say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import SlotKind
from ecom_rlve.envs.world.stockout import StockoutPlan
from ecom_rlve.envs.world.world import World


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing a goal is about, as sentences name it."""

    singular: str
    plural: str
    category: str
    """Leaf category whose values its words are drawn from."""


Goal = TypeVar("Goal")


@dataclass(slots=True)
class Scenario(Generic[Goal]):
    """One drawn episode: the hidden goal, its world, and what the customer could say."""

    goal: Goal
    """Replaced where the customer settles for something else."""
    world: World
    subjects: tuple[Subject, ...]
    slots: tuple[Slot, ...]
    """Everything the customer could say beside the essential, in goal order."""
    stockout: StockoutPlan | None = None
    """What may sell out; None where nothing can."""
    unknown: tuple[SlotKind, ...] = ()
    """Kinds of facts that a question may name and that this customer does not remember."""
    redraws: int = 0
    """Products drawn again before the goal was reachable and identified."""
