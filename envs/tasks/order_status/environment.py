"""STATUS, order tracking: which order does the customer mean, where is it, and when does it arrive (SPEC §6)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from ecom_rlve.envs.about import About
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.errand import Errand, Intent
from ecom_rlve.envs.goal import Review, Verdict
from ecom_rlve.envs.scenario import Scenario, single
from ecom_rlve.envs.tasks.order_status.goal import StatusGoal, intent_in
from ecom_rlve.envs.world.orders import has_histories
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

_ORDER, _FACTS = Fraction(1, 4), Fraction(3, 4)
"""Weights of the right order and of the facts about it (SPEC §6). The order alone scores below 0: to guess its status
for ever is nothing to rest on."""
_BRIEF = (
    "The customer asks about one of their orders. Find out which one they mean: order_list shows day, total and titles "
    "of all orders, and what they have left out you can ask for. Read the order with order_get and answer with its id "
    "and its status, and with the date of arrival (the day it was delivered, else the day it is expected; ISO 8601, "
    "null where there is none) if they want to know that."
)


class StatusAnswer(Answer):
    """What the agent found."""

    selected_order_id: str | None = Field(default=None, max_length=64)
    order_status: Literal["processing", "shipped", "out_for_delivery", "delivered", "delayed", "cancelled"] | None = (
        None
    )
    eta_date: str | None = Field(default=None, max_length=32, description="Date of arrival, ISO 8601.")


class StatusEnvironment(Environment, Errand[StatusGoal]):
    """Order tracking."""

    about = About(
        id="STATUS",
        title="Order tracking",
        version="3",
        called="my order",
        tool_names=("order_list", "order_get", "ask_user"),
        answer=StatusAnswer,
        axes=("p_missing", "t_max", "p_noise", "h_orders", "b_tool"),
        candidates=lambda axes: axes.h_orders,
        needs="four leaf categories with exact prices in each split",
    )

    def brief(self, axes: Axes) -> str:  # noqa: ARG002 - every implementation gets it, this one decides without
        return _BRIEF

    def max_difficulty(self, shop: Shop) -> int:
        return MAX_DIFFICULTY if has_histories(shop) else -1

    def draw(self, world: World, streams: Streams) -> Scenario:
        return single(intent_in(self, world, streams))

    def review(self, intent: Intent[StatusGoal], proposal: Answer | None) -> Review:  # noqa: ARG002 - every implementation gets it, this one decides without
        # The customer knows neither the order's id nor its status, so they cannot judge what the agent says.
        return Review()

    def verify(self, intent: Intent[StatusGoal], answer: Answer | None) -> Verdict:
        goal = intent.goal
        if not isinstance(answer, StatusAnswer) or answer.selected_order_id != goal.order.order_id:
            return Verdict(Fraction(-1), correct=False)
        arrival = goal.order.arrival
        knows = (
            goal.order.order_id in intent.world.orders_read
            and answer.order_status == goal.order.status.value
            and (not goal.wants_arrival or answer.eta_date == (arrival.isoformat() if arrival else None))
        )
        return Verdict(2 * (_ORDER + _FACTS * knows) - 1, correct=knows)

    def solve(self, intent: Intent[StatusGoal]) -> dict[str, Any]:
        order = intent.goal.order
        reads = [{"name": "order_get", "args": {"order_id": order.order_id}}]
        answer: dict[str, Any] = {
            "done": True,
            "selected_order_id": order.order_id,
            "order_status": order.status.value,
        }
        if order.arrival:
            answer["eta_date"] = order.arrival.isoformat()
        return {"tool_calls": [] if order.order_id in intent.world.orders_read else reads, "answer": answer}

    def goal_json(self, intent: Intent[StatusGoal]) -> dict[str, Any]:
        goal = intent.goal
        return {
            "order_id": goal.order.order_id,
            "status": goal.order.status.value,
            "arrival": goal.order.arrival.isoformat() if goal.order.arrival else None,
            "wants_arrival": goal.wants_arrival,
            "reference": goal.reference.form,
        }


ENVIRONMENT = StatusEnvironment()
