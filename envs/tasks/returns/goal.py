"""The goal of RETURN: an order line, and what the customer wants done with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from ecom_rlve.catalog.errors import UnknownProductError
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.errand import Errand, Intent, Subject
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Fact
from ecom_rlve.envs.language.spelling import with_article
from ecom_rlve.envs.parts.description import facts_of
from ecom_rlve.envs.parts.remembered import Clue, singled_out
from ecom_rlve.envs.tasks.returns.facts import LISTED, METHODS, Candidate, fitting_reasons, line_clues, wish_facts
from ecom_rlve.envs.tasks.returns.opening import opening
from ecom_rlve.envs.tasks.returns.replacement import Replacement, draw_replacement
from ecom_rlve.envs.world.eligibility import EXCHANGE, eligibility
from ecom_rlve.envs.world.world import World
from ecom_rlve.streams import Streams

_REDRAWS = 50


THING, NEW = 0, 1
"""Positions of the items: the thing that goes back, and the new one that is wanted instead."""


class ReturnAnswer(Answer):
    """What the agent did."""

    selected_order_id: str | None = Field(default=None, max_length=64)
    selected_line_id: str | None = Field(default=None, max_length=64)
    resolution: Literal["returned", "exchanged", "not_eligible"] | None = None
    recommended_product_ids: list[str] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ReturnGoal:
    """The order line that goes back, and how."""

    order_id: str
    line_id: str
    is_eligible: bool
    """Whether it can be returned, before anything was initiated."""
    reason: str
    method: str
    replacement: Replacement | None
    """None if nothing is wanted instead."""


def intent_in(errand: Errand[ReturnGoal], world: World, streams: Streams) -> Intent[ReturnGoal]:
    """Draw an intent: a return of one order line of a world."""
    (order, line), goal, redraws = _draw_goal(world, streams)
    kind = world.shop.catalog.category_of(line.row)
    subjects = [Subject(kind.singular, kind.plural, kind.name)]
    clues = line_clues(order, line, world.shop.catalog.currency, has_other_price=goal.replacement is not None)
    told = _remembered(world, (order, line), clues, streams)
    instead = "no replacement"
    wishes: tuple[Fact, ...] = ()
    if goal.replacement is not None:
        subjects.append(Subject(f"new {kind.singular}", f"new {kind.plural}", kind.name))
        instead = with_article(f"new {kind.singular}")
        wishes = facts_of(goal.replacement.constraints, world.shop.catalog.currency)
    own = (*(clue.fact for clue in told), *wish_facts(goal.reason, goal.method, instead))
    forgotten = [clue.fact.kind for clue in clues.values() if clue not in told]
    return Intent(
        errand,
        goal=goal,
        world=world,
        subjects=tuple(subjects),
        slots=(*(Slot(THING, fact) for fact in own), *(Slot(NEW, fact) for fact in wishes)),
        streams=streams,
        opening=opening,
        unknown=tuple(kind for kind in forgotten if kind is not None),
        fixed=(THING,),
        redraws=redraws,
    )


def replacement_probability(d: int) -> float:
    """Return the probability that a replacement is wanted: min(0.5, 0.1·d) (SPEC §3)."""
    return min(0.5, 0.1 * d)


def _draw_goal(world: World, streams: Streams) -> tuple[Candidate, ReturnGoal, int]:
    """Return the order line, the goal, and the number of redraws.

    All delivered lines are equally likely. Whether the line can be returned decides nothing else of the goal, so that
    no word of the customer tells it.
    """
    axes = world.axes
    lines = [(order, line) for order in world.orders if order.delivered is not None for line in order.lines]
    is_replaced, is_exchanged, reason, method = streams.stream("wishes").random(4).tolist()
    wants_new = is_replaced < replacement_probability(axes.d)
    targets, rng = streams.stream("target"), streams.stream("replacement")
    for redraws in range(_REDRAWS + 1):
        order, line = lines[int(targets.integers(len(lines)))]
        new = draw_replacement(world.shop, line.row, axes.m, axes.d, world.split, rng) if wants_new else None
        if wants_new and new is None:
            continue
        refunds = [name for name in METHODS if name != EXCHANGE]
        reasons = fitting_reasons(world.shop.catalog.category_of(line.row))
        goal = ReturnGoal(
            order_id=order.order_id,
            line_id=line.line_id,
            is_eligible=eligibility(world, order, line).is_eligible,
            reason=reasons[int(reason * len(reasons))],
            method=EXCHANGE if wants_new and is_exchanged < 0.5 else refunds[int(method * len(refunds))],
            replacement=new,
        )
        return (order, line), goal, redraws
    raise GenerationError(
        f"no ordered product of split {world.split!r} can be replaced under {axes.m} constraints after {_REDRAWS} "
        "redraws; use another seed or a larger catalog"
    )


def _remembered(
    world: World, target: Candidate, clues: dict[str, Clue[Candidate]], streams: Streams
) -> list[Clue[Candidate]]:
    """Return what the customer remembers.

    It identifies the line. And what ``order_list`` shows of it leaves so few orders that they can be read in one turn,
    with a call left for the check of the line: with two calls a turn the list alone tells which line is meant.
    """
    most = max(1, world.axes.b_tool - 1)
    codes = world.shop.catalog.category_codes
    kind = codes[target[1].row]
    lines = [(order, line) for order in world.orders for line in order.lines if codes[line.row] == kind]
    names = list(clues)
    order = [names[at] for at in streams.stream("memory").permutation(len(names)).tolist()]
    told = singled_out([clues[name] for name in order], lines)
    for name in LISTED:
        listed = [clue for clue in told if clue in (clues[other] for other in LISTED)]
        to_read = sum(all(clue.holds(line) for clue in listed) for line in lines)
        if to_read > most and clues[name] not in told:
            told.append(clues[name])
    return told


def offered_product(intent: Intent[ReturnGoal], answer: Answer | None) -> int | None:
    """Return the product offered as a replacement: that of the line's exchange, else the first one of the answer."""
    goal, catalog = intent.goal, intent.world.shop.catalog
    for done in intent.world.errand_returns:
        if done.line_id == goal.line_id and done.new_row is not None:
            return done.new_row
    if isinstance(answer, ReturnAnswer) and answer.recommended_product_ids:
        try:
            return catalog.row_of(answer.recommended_product_ids[0])
        except UnknownProductError:
            return None
    return None
