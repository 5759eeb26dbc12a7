"""What an environment is: four verbs on a scenario, and what it declares about itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from fractions import Fraction
from typing import Any, ClassVar, Generic

from ecom_rlve.envs.about import About
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.customer.customer import Customer
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.goal import Review, Slot, Verdict
from ecom_rlve.envs.language.acts import Act, ActKind, Mention
from ecom_rlve.envs.scenario import Goal, Scenario
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import Split
from ecom_rlve.streams import Streams


class Environment(ABC, Generic[Goal]):
    """A family of tasks. Instances hold no state; every method is a function of its arguments."""

    about: ClassVar[About]
    replaces_sold_out: ClassVar[bool] = True
    """Told that a wanted thing is sold out, the customer says what to take instead, or that it is not; where False
    they leave that to the agent."""

    @property
    def is_journey(self) -> bool:
        """Made of several of the others."""
        return bool(self.about.members)

    @abstractmethod
    def brief(self, axes: Axes) -> str:
        """Return the agent's job, in the words of ``instructions``."""

    @abstractmethod
    def max_difficulty(self, shop: Shop) -> int:
        """Return the highest difficulty that the catalog can serve, -1 where it can serve none."""

    @abstractmethod
    def draw_in(self, world: World, streams: Streams) -> Scenario[Goal]:
        """Draw a scenario in a world, with targets of its split; raises ``GenerationError`` after 50 redraws."""

    def draw(self, shop: Shop, axes: Axes, streams: Streams, split: Split) -> Scenario[Goal]:
        """Draw a scenario in a world of its own."""
        return self.draw_in(World(shop, axes, streams, split), streams)

    @abstractmethod
    def review(self, scenario: Scenario[Goal], proposal: Answer | None) -> Review:
        """Return what the customer sees in the work so far, and in an answer that was proposed (``done=false``)."""

    @abstractmethod
    def verify(self, scenario: Scenario[Goal], answer: Answer | None) -> Verdict:
        """Judge the state at the end; ``answer`` is None where none was given."""

    @abstractmethod
    def solve(self, scenario: Scenario[Goal]) -> dict[str, Any]:
        """Return the next action of an agent that knows the goal; it acts through the tools like any other."""

    @abstractmethod
    def goal_json(self, scenario: Scenario[Goal]) -> dict[str, Any]:
        """Return the goal for people, once the episode is over."""

    def opening(self, scenario: Scenario[Goal], said: Collection[Slot]) -> Act:
        """Return the first act: what is essential, and the slots that were not left out."""
        mentions = tuple(
            Mention(
                subject.singular,
                subject.plural,
                tuple(slot.fact for slot in scenario.slots if slot.item == item and slot in said),
            )
            for item, subject in enumerate(scenario.subjects)
        )
        return Act(ActKind.OPEN, mentions)

    def customer(self, scenario: Scenario[Goal], streams: Streams) -> Customer:
        """Return the customer of a scenario."""
        return Customer(self, scenario, streams)

    def turn_budget(self, scenario: Scenario[Goal]) -> int:
        """Return T_max of the scenario."""
        return scenario.world.axes.t_max

    def takes_answer(self, scenario: Scenario[Goal], answer: Answer) -> bool:  # noqa: ARG002 - the protocol's
        """Take a final answer; False where the conversation goes on after it (the next intent of a journey)."""
        return True

    def forfeit(self, scenario: Scenario[Goal]) -> Verdict:
        """Judge an episode that ended without an answer: r_task is -1, output ids still count (SPEC §4)."""
        return Verdict(Fraction(-1), correct=False, output_ids=self.verify(scenario, None).output_ids)

    def after_results(self, scenario: Scenario[Goal]) -> None:
        """Let the world move on after tool results that showed something new or changed the cart: things sell out."""

    def leaves_free(self, scenario: Scenario[Goal], item: int | None, name: str) -> bool:  # noqa: ARG002 - the protocol's
        """Tell whether any value of what is no slot will do; where False, the customer does not know what it is."""
        return True

    def sold_out_item(self, scenario: Scenario[Goal]) -> int | None:  # noqa: ARG002 - the protocol's
        """Return the wanted item that has sold out and that the customer must replace."""
        return None

    def knows_stockout(self, scenario: Scenario[Goal]) -> bool:  # noqa: ARG002 - the protocol's
        """Tell whether some result has shown the agent that a wanted thing is sold out."""
        return False

    def fall_back(self, scenario: Scenario[Goal], item: int) -> Act:
        """Replace a sold-out item in the goal as the customer decided, and return what they say."""
        raise NotImplementedError(f"{self.about.id} has nothing that could be replaced, asked for item {item}")
