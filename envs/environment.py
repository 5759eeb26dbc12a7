"""What an environment is: four verbs on a scenario, and what it declares about itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.goal import Review, Slot, Verdict
from ecom_rlve.envs.shop import Shop
from ecom_rlve.envs.simulator.acts import Act
from ecom_rlve.envs.stockout import StockoutPlan
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.tools.tool import Tool, flat_schema
from ecom_rlve.envs.world import World
from ecom_rlve.models import Split
from ecom_rlve.streams import Streams


class Answer(BaseModel):
    """Base of every environment's answer; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    done: bool
    """True submits; false proposes."""


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
    stockout: StockoutPlan
    redraws: int
    """Products drawn again before the goal was reachable and identified."""


class Environment(ABC, Generic[Goal]):
    """A family of tasks. Instances hold no state; every method is a function of its arguments."""

    id: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[str]
    """Changes where scores stop being comparable."""
    tool_names: ClassVar[tuple[str, ...]]
    answer: ClassVar[type[Answer]]
    brief: ClassVar[str]
    """The agent's job, in the words of ``instructions``."""

    @abstractmethod
    def max_difficulty(self, shop: Shop) -> int:
        """Return the highest difficulty that the catalog can serve, -1 where it can serve none."""

    @abstractmethod
    def draw(self, shop: Shop, axes: Axes, streams: Streams, split: Split) -> Scenario[Goal]:
        """Draw a scenario with targets of the split; raises ``GenerationError`` after 50 redraws."""

    @abstractmethod
    def review(self, scenario: Scenario[Goal]) -> Review:
        """Return what the customer sees in the work so far."""

    @abstractmethod
    def verify(self, scenario: Scenario[Goal], answer: BaseModel | None) -> Verdict:
        """Judge the state at the end; ``answer`` is None where none was given."""

    @abstractmethod
    def solve(self, scenario: Scenario[Goal]) -> dict[str, Any]:
        """Return the next action of an agent that knows the goal; it acts through the tools like any other."""

    @abstractmethod
    def after_results(self, scenario: Scenario[Goal]) -> None:
        """Let the world move on after tool results that showed something new or changed the cart: things sell out."""

    @abstractmethod
    def sold_out_item(self, scenario: Scenario[Goal]) -> int | None:
        """Return the wanted item that has sold out and was not yet replaced."""

    @abstractmethod
    def knows_stockout(self, scenario: Scenario[Goal]) -> bool:
        """Tell whether some result has shown the agent that a wanted thing is sold out."""

    @abstractmethod
    def fall_back(self, scenario: Scenario[Goal], item: int) -> Act:
        """Replace a sold-out item in the goal as the customer decided, and return what they say."""

    @abstractmethod
    def goal_json(self, scenario: Scenario[Goal]) -> dict[str, Any]:
        """Return the goal for people, once the episode is over."""

    @property
    def tools(self) -> Mapping[str, Tool[Any]]:
        """The tools on offer."""
        return {name: TOOLS[name] for name in self.tool_names}

    def answer_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the answer."""
        return flat_schema(self.answer)
