"""STATUS, order tracking: which order does the customer mean, where is it, and when does it arrive (SPEC §6)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.difficulty import Axes, logistic
from ecom_rlve.envs.environment import Environment, Scenario, Subject
from ecom_rlve.envs.goal import Review, Slot, Verdict
from ecom_rlve.envs.orders import MIN_KINDS, Order
from ecom_rlve.envs.recall import (
    DAY_WORDS,
    MONTHS,
    TOTAL_WORDS,
    Clue,
    day_fact,
    money_fact,
    singled_out,
    spelled_day,
    spelled_money,
    with_article,
    word_fact,
)
from ecom_rlve.envs.shop import Shop
from ecom_rlve.envs.simulator.acts import Act, ActKind, Fact, Mention, SlotKind
from ecom_rlve.envs.simulator.templates import bank
from ecom_rlve.envs.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

_BRIEF = (
    "The customer asks about one of their orders. Find out which one they mean: order_list shows day, total and titles "
    "of all orders, and what they have left out you can ask for. Read the order with order_get and answer with its id "
    "and its status, and with the date of arrival (the day it was delivered, else the day it is expected; ISO 8601, "
    "null where there is none) if they want to know that."
)

_DAY = SlotKind(
    "order_date",
    "order date",
    (("placed on %s", "I placed it on %s"), ("of %s", "it is from %s")),
    DAY_WORDS,
    is_circumstance=True,
)
_TOTAL = SlotKind(
    "order_total",
    "order total",
    (("that came to %s", "it came to %s"), ("for %s", "I paid %s in all")),
    (*TOTAL_WORDS, "price", "cost", "how much", "spend", "paid", "pay"),
    is_circumstance=True,
)
_ITEMS = SlotKind(
    "items_ordered",
    "item ordered",
    (("with %s in it", "it had %s in it"), ("including %s", "it included %s")),
    (
        "item", "other item", "product", "other product", "thing", "contents", "title", "what did you order",
        "what did you buy", "what was in", "what is in", "what else", "what you ordered", "what you bought",
    ),
    is_circumstance=True,
)  # fmt: skip
_KINDS = (_DAY, _TOTAL, _ITEMS)
_MONTH_SHARE = 0.5
"""Of indirect references: those that name the month."""

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


@dataclass(frozen=True, slots=True)
class Reference:
    """How the customer speaks of the order in the first message."""

    form: Literal["day", "total", "title", "indirect"]
    phrase: str
    protected: tuple[tuple[str, str], ...]
    """Places of the phrase that noise must not touch."""
    fact: Fact
    """What it tells, for when it is asked again."""
    holds: Callable[[Order], bool]
    """Of which orders it is true."""


@dataclass(frozen=True, slots=True)
class StatusGoal:
    """The order meant, and what is asked about it."""

    order: Order
    wants_arrival: bool
    reference: Reference


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


def scenario_in(world: World, streams: Streams) -> Scenario[StatusGoal]:
    """Return a question drawn from ``streams`` about one of the orders of a world."""
    which, arrival, is_indirect, form, line = streams.stream("target").random(5).tolist()
    order = world.orders[int(which * len(world.orders))]
    if is_indirect < logistic((world.axes.d - 2) / 1.5):
        reference = _indirect(world, order, line)
    else:
        reference = (_by_day, _by_total, _by_title)[int(form * 3)](world, order, line)
    told = singled_out(_clues(world, order, reference), [other for other in world.orders if reference.holds(other)])
    facts = [clue.fact for clue in told]
    remembered = {fact.kind for fact in (*facts, reference.fact)}
    return Scenario(
        goal=StatusGoal(order, arrival < 0.5, reference),
        world=world,
        subjects=(Subject("order", "orders", ""),),
        slots=(*(Slot(0, fact) for fact in facts), Slot(0, reference.fact, is_essential=True)),
        unknown=tuple(kind for kind in _KINDS if kind not in remembered),
    )


def _noun(world: World, row: int) -> str:
    return with_article(world.shop.catalog.category_of(row).singular)


def _title(world: World, row: int) -> str:
    return str(world.shop.card(row)["title"])


def _has_kind(world: World, row: int) -> Callable[[Order], bool]:
    codes = world.shop.catalog.category_codes
    wanted = codes[row]
    return lambda order: any(codes[line.row] == wanted for line in order.lines)


def _by_day(world: World, order: Order, line: float) -> Reference:  # noqa: ARG001 - the protocol's
    day = spelled_day(order.placed)
    return Reference(
        "day",
        f"my order of {day}",
        (("date", day),),
        day_fact(_DAY, order.placed),
        lambda other: other.placed == order.placed,
    )


def _by_total(world: World, order: Order, line: float) -> Reference:  # noqa: ARG001 - the protocol's
    total = spelled_money(order.total_cents)
    return Reference(
        "total",
        f"my order for {total}",
        (("money", total),),
        money_fact(_TOTAL, order.total_cents),
        lambda other: other.total_cents == order.total_cents,
    )


def _by_title(world: World, order: Order, line: float) -> Reference:
    row = order.lines[int(line * len(order.lines))].row
    title = _title(world, row)
    return Reference(
        "title",
        f'my order with "{title}"',
        (("title", f'"{title}"'),),
        word_fact(_ITEMS, _noun(world, row)),
        lambda other: any(_title(world, line.row) == title for line in other.lines),
    )


def _indirect(world: World, order: Order, line: float) -> Reference:
    place = line * len(order.lines)
    row = order.lines[int(place)].row
    names_month = place % 1 < _MONTH_SHARE
    month = MONTHS[order.placed.month - 1]
    has_kind = _has_kind(world, row)
    noun = world.shop.catalog.category_of(row).singular
    return Reference(
        "indirect",
        f"the order with the {noun} from {month}" if names_month else f"the order with the {noun}",
        (("date", month),) if names_month else (),
        word_fact(_ITEMS, _noun(world, row)),
        lambda other: has_kind(other) and (not names_month or other.placed.month == order.placed.month),
    )


def _clues(world: World, order: Order, reference: Reference) -> list[Clue[Order]]:
    """Return what the customer may remember of the order beside what the reference tells, best remembered first."""
    clues: list[Clue[Order]] = [
        *(Clue(word_fact(_ITEMS, _noun(world, line.row)), _has_kind(world, line.row)) for line in order.lines),
        Clue(day_fact(_DAY, order.placed), lambda other: other.placed == order.placed),
        Clue(money_fact(_TOTAL, order.total_cents), lambda other: other.total_cents == order.total_cents),
    ]
    return [clue for clue in clues if clue.fact != reference.fact]


ENVIRONMENT = StatusEnvironment()
