"""The goal of STATUS: an order, and how the customer refers to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.envs.difficulty import logistic
from ecom_rlve.envs.errand import Errand, Intent, Subject
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Fact, SlotKind
from ecom_rlve.envs.language.spelling import with_article
from ecom_rlve.envs.parts.remembered import (
    DAY_WORDS,
    MONTHS,
    TOTAL_WORDS,
    Clue,
    day_fact,
    money_fact,
    singled_out,
    spelled_day,
    spelled_money,
    word_fact,
)
from ecom_rlve.envs.tasks.order_status.opening import opening
from ecom_rlve.envs.world.orders import Order
from ecom_rlve.envs.world.world import World
from ecom_rlve.streams import Streams

_DAY = SlotKind(
    "order_date",
    "order date",
    DAY_WORDS,
    is_circumstance=True,
    phrased_as="status_order_date",
)


_TOTAL = SlotKind(
    "order_total",
    "order total",
    (*TOTAL_WORDS, "price", "cost", "how much", "spend", "paid", "pay"),
    is_circumstance=True,
    phrased_as="status_order_total",
)


_ITEMS = SlotKind(
    "items_ordered",
    "item ordered",
    (
        "item", "product", "thing", "contents", "title", "what did you order", "what did you buy", "what was in",
        "what is in", "what you ordered", "what you bought",
    ),
    is_circumstance=True,
)  # fmt: skip
_OTHER_ITEMS = SlotKind(
    "other_items",
    "also in it",
    (
        "what else", "other item", "other product", "other thing", "another item", "another product", "another thing",
        "additional item", "additional product", "anything else in", "something else in", "anything else on",
        "anything else did you order", "anything else did you buy",
    ),
    is_circumstance=True,
    none_left="nothing else",
)  # fmt: skip
"""Things in the order besides the one that the reference names."""


_KINDS = (_DAY, _TOTAL, _ITEMS, _OTHER_ITEMS)
_MONTH_SHARE = 0.5
"""Share of indirect references that name the month."""


@dataclass(frozen=True, slots=True)
class Reference:
    """How the customer refers to the order in the first message."""

    form: Literal["day", "total", "title", "indirect"]
    table: str
    """Name of the frames with which it is said."""
    places: tuple[tuple[str, str], ...]
    """What fills their places."""
    fact: Fact
    """What it tells, to be told again if the agent asks."""
    holds: Callable[[Order], bool]
    """Tells for which orders it is true."""
    says: tuple[tuple[str, str], ...]
    """The phrase as data: ``day`` and ``month`` in digits, ``total`` in integer cents, ``title``, ``item``."""


@dataclass(frozen=True, slots=True)
class StatusGoal:
    """The order meant, and what is asked about it."""

    order: Order
    wants_arrival: bool
    reference: Reference


def indirect_probability(d: int) -> float:
    """Return the probability that the reference names nothing that ``order_list`` shows: σ((d - 2) / 1.5) (SPEC §3)."""
    return logistic((d - 2) / 1.5)


def intent_in(errand: Errand[StatusGoal], world: World, streams: Streams) -> Intent[StatusGoal]:
    """Draw an intent: a question about one of the orders of a world."""
    which, arrival, is_indirect, form, line = streams.stream("target").random(5).tolist()
    order = world.orders[int(which * len(world.orders))]
    if is_indirect < indirect_probability(world.axes.d):
        reference = _indirect(world, order, line)
    else:
        reference = (_by_day, _by_total, _by_title)[int(form * 3)](world, order, line)
    clues = _clues(world, order, reference)
    told = singled_out(clues, [other for other in world.orders if reference.holds(other)])
    remembered = {fact.kind for fact in (*(clue.fact for clue in told), reference.fact)}
    return Intent(
        errand,
        goal=StatusGoal(order, arrival < 0.5, reference),
        world=world,
        subjects=(Subject("order", "orders", ""),),
        slots=(
            *(Slot(0, clue.fact) for clue in told),
            *(Slot(0, clue.fact, is_on_request=True) for clue in clues if clue not in told and _is_item(clue.fact)),
            Slot(0, reference.fact, is_essential=True),
        ),
        streams=streams,
        opening=opening,
        kinds=_KINDS,
        unknown=tuple(kind for kind in (_DAY, _TOTAL) if kind not in remembered),
        fixed=(0,),
    )


def _is_item(fact: Fact) -> bool:
    return fact.constraint.attribute == _ITEMS.name


def _noun(world: World, row: int) -> str:
    return with_article(world.shop.catalog.category_of(row).singular)


def _title(world: World, row: int) -> str:
    return str(world.shop.card(row)["title"])


def _has_kind(world: World, row: int) -> Callable[[Order], bool]:
    codes = world.shop.catalog.category_codes
    wanted = codes[row]
    return lambda order: any(codes[line.row] == wanted for line in order.lines)


def _by_day(world: World, order: Order, line: float) -> Reference:  # noqa: ARG001 - every implementation gets it, this one decides without
    day = spelled_day(order.placed)
    return Reference(
        "day",
        "reference_day",
        (("date", day),),
        day_fact(_DAY, order.placed),
        lambda other: other.placed == order.placed,
        (("day", str(order.placed.day)), ("month", str(order.placed.month))),
    )


def _by_total(world: World, order: Order, line: float) -> Reference:  # noqa: ARG001 - every implementation gets it, this one decides without
    total = spelled_money(order.total_cents, world.shop.catalog.currency)
    return Reference(
        "total",
        "reference_total",
        (("money", total),),
        money_fact(_TOTAL, order.total_cents, world.shop.catalog.currency),
        lambda other: other.total_cents == order.total_cents,
        (("total", str(order.total_cents)),),
    )


def _by_title(world: World, order: Order, line: float) -> Reference:
    row = order.lines[int(line * len(order.lines))].row
    title = _title(world, row)
    return Reference(
        "title",
        "reference_title",
        (("title", title),),
        word_fact(_ITEMS, _noun(world, row)),
        lambda other: any(_title(world, line.row) == title for line in other.lines),
        (("title", title),),
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
        "reference_item_month" if names_month else "reference_item",
        (("noun", noun), *((("date", month),) if names_month else ())),
        word_fact(_ITEMS, _noun(world, row)),
        lambda other: has_kind(other) and (not names_month or other.placed.month == order.placed.month),
        (("item", noun), *((("month", str(order.placed.month)),) if names_month else ())),
    )


def _clues(world: World, order: Order, reference: Reference) -> list[Clue[Order]]:
    """Return what else the customer may remember of the order, besides the reference; best remembered first."""
    named = reference.fact.constraint.value if _is_item(reference.fact) else None
    others = [line.row for line in order.lines if _noun(world, line.row) != named]
    clues: list[Clue[Order]] = [
        *(Clue(_other_item(_noun(world, row)), _has_kind(world, row)) for row in others),
        Clue(day_fact(_DAY, order.placed), lambda other: other.placed == order.placed),
        Clue(
            money_fact(_TOTAL, order.total_cents, world.shop.catalog.currency),
            lambda other: other.total_cents == order.total_cents,
        ),
    ]
    return [clue for clue in clues if clue.fact != reference.fact]


def _other_item(noun: str) -> Fact:
    """Return one more thing in the order as a fact; questions for the things in the order ask for it too."""
    return Fact(_OTHER_ITEMS.name, Constraint(_ITEMS.name, Op.EQ, noun), kind=_OTHER_ITEMS)
