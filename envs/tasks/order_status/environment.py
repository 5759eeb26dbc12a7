"""STATUS, order tracking: which order does the customer mean, where is it, and when does it arrive (SPEC §6)."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.goal import Review, Slot, Verdict
from ecom_rlve.envs.language.acts import Act, ActKind, Mention
from ecom_rlve.envs.language.templates import bank
from ecom_rlve.envs.scenario import Scenario
from ecom_rlve.envs.tasks.order_status.goal import StatusGoal, scenario_in
from ecom_rlve.envs.world.orders import MIN_KINDS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

_BRIEF = (
    "The customer asks about one of their orders. Find out which one they mean: order_list shows day, total and titles "
    "of all orders, and what they have left out you can ask for. Read the order with order_get and answer with its id "
    "and its status, and with the date of arrival (the day it was delivered, else the day it is expected; ISO 8601, "
    "null where there is none) if they want to know that."
)


_ASKS_STATUS = bank(
    "What is the status of {order}?",
    "Could you check the status of {order}?",
    plain=("I'd like to know the status of {order}.", "How is {order} coming along?"),
    terse=("Status of {order}?", "How is {order} doing?"),
    formal=("I would like to know the status of {order}.", "Kindly tell me the status of {order}."),
    chatty=("I've been wondering how {order} is doing!", "Could you have a look how {order} is coming along?"),
)
_ASKS_ARRIVAL = bank(
    "What is the status of {order}, and what is its date of arrival?",
    "Could you check {order}: its status and the day it arrives or arrived?",
    plain=("How is {order} coming along, and on what day is it or was it here?", "Status and arrival date of {order}?"),
    terse=("Status and arrival date of {order}?", "{order}: status and arrival date?"),
    formal=(
        "I would like to know the status and the date of arrival of {order}.",
        "Kindly tell me the status of {order} and its date of arrival.",
    ),
    chatty=(
        "I've been wondering how {order} is doing and which day it is meant to be here!",
        "Could you have a look how {order} is doing, and on what date it comes or came?",
    ),
)


class StatusAnswer(Answer):
    """What the agent found."""

    selected_order_id: str | None = Field(default=None, max_length=64)
    order_status: Literal["processing", "shipped", "out_for_delivery", "delivered", "delayed", "cancelled"] | None = (
        None
    )
    eta_date: str | None = Field(default=None, max_length=32, description="Date of arrival, ISO 8601.")


class StatusEnvironment(Environment[StatusGoal]):
    """Order tracking."""

    id = "STATUS"
    title = "Order tracking"
    version = "1"
    errand = "my order"
    tool_names = ("order_list", "order_get", "ask_user")
    answer = StatusAnswer

    def brief(self, axes: Axes) -> str:  # noqa: ARG002 - the protocol's
        return _BRIEF

    def max_difficulty(self, shop: Shop) -> int:
        return MAX_DIFFICULTY if len(shop.kinds(1)) >= MIN_KINDS else -1

    def draw_in(self, world: World, streams: Streams) -> Scenario[StatusGoal]:
        return scenario_in(world, streams)

    def opening(self, scenario: Scenario[StatusGoal], said: Collection[Slot]) -> Act:
        goal, subject = scenario.goal, scenario.subjects[0]
        facts = tuple(slot.fact for slot in scenario.slots if slot in said and not slot.is_essential)
        return Act(
            ActKind.OPEN,
            (Mention(subject.singular, subject.plural, facts),),
            bank=_ASKS_ARRIVAL if goal.wants_arrival else _ASKS_STATUS,
            places=(("order", goal.reference.phrase), *goal.reference.protected),
            says=(("asks", "status and arrival" if goal.wants_arrival else "status"), *goal.reference.says),
        )

    def review(self, scenario: Scenario[StatusGoal], proposal: Answer | None) -> Review:  # noqa: ARG002 - the protocol's
        # The customer knows neither the order's id nor how it stands, so nothing the agent says can be judged by them.
        return Review()

    def verify(self, scenario: Scenario[StatusGoal], answer: Answer | None) -> Verdict:
        goal = scenario.goal
        if not isinstance(answer, StatusAnswer) or answer.selected_order_id != goal.order.order_id:
            return Verdict(Fraction(-1), correct=False)
        arrival = goal.order.arrival
        knows = (
            goal.order.order_id in scenario.world.orders_read
            and answer.order_status == goal.order.status.value
            and (not goal.wants_arrival or answer.eta_date == (arrival.isoformat() if arrival else None))
        )
        return Verdict(Fraction(int(knows)), correct=knows)

    def solve(self, scenario: Scenario[StatusGoal]) -> dict[str, Any]:
        order = scenario.goal.order
        reads = [{"name": "order_get", "args": {"order_id": order.order_id}}]
        answer: dict[str, Any] = {
            "done": True,
            "selected_order_id": order.order_id,
            "order_status": order.status.value,
            "eta_date": order.arrival.isoformat() if order.arrival else None,
        }
        return {"tool_calls": [] if order.order_id in scenario.world.orders_read else reads, "answer": answer}

    def leaves_free(self, scenario: Scenario[StatusGoal], item: int | None, name: str) -> bool:  # noqa: ARG002 - the protocol's
        return False

    def goal_json(self, scenario: Scenario[StatusGoal]) -> dict[str, Any]:
        goal = scenario.goal
        return {
            "order_id": goal.order.order_id,
            "status": goal.order.status.value,
            "arrival": goal.order.arrival.isoformat() if goal.order.arrival else None,
            "wants_arrival": goal.wants_arrival,
            "reference": goal.reference.form,
        }


ENVIRONMENT = StatusEnvironment()
