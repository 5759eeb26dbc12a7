"""RETURN, return and exchange: send back exactly the order line that the customer means, as they want it (SPEC §6)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from ecom_rlve.catalog.constraints import is_satisfied
from ecom_rlve.catalog.errors import UnknownProductError
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.description import facts_of
from ecom_rlve.envs.difficulty import Axes, axes_of
from ecom_rlve.envs.environment import Environment, Scenario, Subject
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.goal import Review, Slot, Verdict
from ecom_rlve.envs.orders import MIN_KINDS
from ecom_rlve.envs.recall import Clue, singled_out, with_article
from ecom_rlve.envs.replacement import Replacement, draw_replacement, most_constraints, share_met
from ecom_rlve.envs.return_facts import LISTED, METHODS, REASONS, Candidate, line_clues, wish_facts
from ecom_rlve.envs.returns import EXCHANGE, eligibility
from ecom_rlve.envs.shop import Shop
from ecom_rlve.envs.simulator.acts import Act, ActKind, Fact
from ecom_rlve.envs.simulator.templates import bank
from ecom_rlve.envs.solving import search_showing
from ecom_rlve.envs.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

_REDRAWS = 50
_SELECTION, _RETURN, _REPLACEMENT = Fraction(45, 100), Fraction(45, 100), Fraction(10, 100)
_THING, _NEW = 0, 1
"""Positions of what goes back and of what is wanted instead."""

_BRIEF = (
    "The customer wants to send something back. Find the order line they mean (order_list, order_get; ask for what "
    "they have left out), see whether it can be returned (return_check_eligibility), and return or exchange exactly "
    "that line for the reason and with the method they give; nothing can be undone. If it is not eligible, initiate "
    'nothing and answer with resolution "not_eligible". If they want another product without an exchange, put the id '
    "of one that meets all their wishes first in recommended_product_ids. Say in the answer what you did."
)
_ASKS = bank(
    "I want to send back the {item} I bought.",
    "I'd like to return my {item}.",
    plain=("The {item} I got from you has to go back.", "I need to send a {item} back to you."),
    terse=("Returning my {item}.", "My {item} goes back.", "Need to return a {item}."),
    formal=(
        "I wish to return the {item} that I ordered.",
        "I would like to send back the {item} from a past order.",
        "I am writing about the {item} I ordered, which I have to send back.",
    ),
    chatty=(
        "So, about the {item} I got from you, I'm afraid it has to go back!",
        "I'm a bit sad about it, but the {item} I ordered needs to go back.",
    ),
)


class ReturnAnswer(Answer):
    """What the agent did."""

    selected_order_id: str | None = Field(default=None, max_length=64)
    selected_line_id: str | None = Field(default=None, max_length=64)
    resolution: Literal["returned", "exchanged", "not_eligible"] | None = None
    recommended_product_ids: list[str] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ReturnGoal:
    """What shall become of which order line."""

    order_id: str
    line_id: str
    is_eligible: bool
    """Before anything was initiated."""
    reason: str
    method: str
    replacement: Replacement | None
    """None: nothing is wanted instead."""


class ReturnEnvironment(Environment[ReturnGoal]):
    """Return and exchange."""

    id = "RETURN"
    title = "Return and exchange"
    version = "1"
    errand = "the return"
    tool_names = (
        "order_list",
        "order_get",
        "return_check_eligibility",
        "return_initiate",
        "return_exchange",
        "catalog_search",
        "catalog_get_variants",
        "ask_user",
    )
    answer = ReturnAnswer

    def brief(self, axes: Axes) -> str:  # noqa: ARG002 - the protocol's
        return _BRIEF

    def max_difficulty(self, shop: Shop) -> int:
        if len(shop.kinds(1)) < MIN_KINDS:
            return -1
        # At d = 0 nobody wants a new one.
        most = most_constraints(shop)
        return max((d for d in range(1, MAX_DIFFICULTY + 1) if axes_of(d).m <= most), default=0)

    def draw_in(self, world: World, streams: Streams) -> Scenario[ReturnGoal]:
        return scenario_in(world, streams)

    def opening(self, scenario: Scenario[ReturnGoal], said: Collection[Slot]) -> Act:
        act = super().opening(scenario, said)
        places = (("item", scenario.subjects[_THING].singular),)
        return Act(ActKind.OPEN, act.mentions, bank=_ASKS, places=places)

    def review(self, scenario: Scenario[ReturnGoal], proposal: Answer | None) -> Review:
        goal, world = scenario.goal, scenario.world
        wrong: set[tuple[int, str]] = set()
        done = next((each for each in world.errand_returns if each.line_id == goal.line_id), None)
        if done is not None:
            wrong |= {(_THING, name) for name in ("reason", "method") if getattr(done, name) != getattr(goal, name)}
        offered = _offered(scenario, proposal)
        if goal.replacement is not None and offered is not None:
            unmet = (
                slot
                for slot in scenario.slots
                if slot.item == _NEW and not is_satisfied(world.shop.catalog, slot.fact.constraint, offered)
            )
            wrong |= {(_NEW, slot.name) for slot in unmet}
        share = _share(scenario, offered)
        is_unwanted = offered is not None and (goal.replacement is None or share == 0)
        stray = is_unwanted or any(each.line_id != goal.line_id for each in world.errand_returns)
        slots = tuple(slot for slot in scenario.slots if (slot.item, slot.name) in wrong)
        is_complete = done is not None and not slots and not stray and share == 1
        return Review(slots, stray, is_complete, hides_unsaid=proposal is not None)

    def verify(self, scenario: Scenario[ReturnGoal], answer: Answer | None) -> Verdict:
        goal, world = scenario.goal, scenario.world
        ids = world.shop.catalog.ids
        exchanged = tuple(ids[done.new_row] for done in world.errand_returns if done.new_row is not None)
        if not isinstance(answer, ReturnAnswer):
            return Verdict(Fraction(-1), correct=False, output_ids=exchanged)
        is_selected = (answer.selected_order_id, answer.selected_line_id) == (goal.order_id, goal.line_id)
        r_sel = Fraction(1 if is_selected else -1)
        r_ret = _return_score(scenario, answer)
        r_rep = Fraction(-1)
        if r_sel == r_ret == 1:
            r_rep = 2 * _share(scenario, _offered(scenario, answer)) ** 4 - 1 if goal.is_eligible else Fraction(1)
        return Verdict(
            _SELECTION * r_sel + _RETURN * r_ret + _REPLACEMENT * r_rep,
            correct=r_sel == r_ret == r_rep == 1,
            output_ids=(*answer.recommended_product_ids, *exchanged),
        )

    def solve(self, scenario: Scenario[ReturnGoal]) -> dict[str, Any]:
        goal, world = scenario.goal, scenario.world
        line = {"order_id": goal.order_id, "line_id": goal.line_id}
        selected = {"done": True, "selected_order_id": goal.order_id, "selected_line_id": goal.line_id}
        if not goal.is_eligible:
            return {
                "tool_calls": [{"name": "return_check_eligibility", "args": line}],
                "answer": {**selected, "resolution": "not_eligible"},
            }
        new = goal.replacement.row if goal.replacement else None
        if new is not None and new not in world.shown:
            return {"tool_calls": [{"name": "catalog_search", "args": search_showing(world, new)}]}
        new_id = None if new is None else world.shop.catalog.ids[new]
        if goal.method == EXCHANGE:
            args = {**line, "reason": goal.reason, "new_product_id": new_id}
            calls = [{"name": "return_exchange", "args": args}]
            answer = {**selected, "resolution": "exchanged"}
        else:
            calls = [{"name": "return_initiate", "args": {**line, "reason": goal.reason, "method": goal.method}}]
            answer = {**selected, "resolution": "returned", "recommended_product_ids": [new_id] if new_id else []}
        return {"tool_calls": [] if world.errand_returns else calls, "answer": answer}

    def leaves_free(self, scenario: Scenario[ReturnGoal], item: int | None, name: str) -> bool:  # noqa: ARG002 - the protocol's
        return item != _THING and len(scenario.subjects) > _NEW

    def goal_json(self, scenario: Scenario[ReturnGoal]) -> dict[str, Any]:
        goal = scenario.goal
        shown: dict[str, Any] = {
            "order_id": goal.order_id,
            "line_id": goal.line_id,
            "eligible": goal.is_eligible,
            "reason": goal.reason,
            "method": goal.method,
        }
        if goal.replacement is not None:
            shown["replacement"] = [
                [constraint.attribute, constraint.op.value, constraint.value]
                for constraint in goal.replacement.constraints
            ]
        return shown


def scenario_in(world: World, streams: Streams) -> Scenario[ReturnGoal]:
    """Return a wish drawn from ``streams`` about a line of the orders of a world."""
    (order, line), goal, redraws = _draw_goal(world, streams)
    kind = world.shop.catalog.category_of(line.row)
    subjects = [Subject(kind.singular, kind.plural, kind.name)]
    clues = line_clues(order, line, has_other_price=goal.replacement is not None)
    told = _remembered(world, (order, line), clues, streams)
    instead = "no replacement"
    wishes: tuple[Fact, ...] = ()
    if goal.replacement is not None:
        subjects.append(Subject(f"new {kind.singular}", f"new {kind.plural}", kind.name))
        instead = with_article(f"new {kind.singular}")
        wishes = facts_of(goal.replacement.constraints)
    own = (*(clue.fact for clue in told), *wish_facts(goal.reason, goal.method, instead))
    forgotten = [clue.fact.kind for clue in clues.values() if clue not in told]
    return Scenario(
        goal=goal,
        world=world,
        subjects=tuple(subjects),
        slots=(*(Slot(_THING, fact) for fact in own), *(Slot(_NEW, fact) for fact in wishes)),
        unknown=tuple(kind for kind in forgotten if kind is not None),
        redraws=redraws,
    )


def _draw_goal(world: World, streams: Streams) -> tuple[Candidate, ReturnGoal, int]:
    """Return the line meant, what shall become of it, and the number of redraws."""
    axes = world.axes
    lines = [(order, line) for order in world.orders for line in order.lines]
    is_replaced, is_exchanged, reason, method = streams.stream("wishes").random(4).tolist()
    wants_new = is_replaced < min(0.5, 0.1 * axes.d)
    targets, rng = streams.stream("target"), streams.stream("replacement")
    for redraws in range(_REDRAWS + 1):
        order, line = lines[int(targets.integers(len(lines)))]
        new = draw_replacement(world.shop, line.row, axes.m, axes.d, world.split, rng) if wants_new else None
        if wants_new and new is None:
            continue
        refunds = [name for name in METHODS if name != EXCHANGE]
        goal = ReturnGoal(
            order_id=order.order_id,
            line_id=line.line_id,
            is_eligible=eligibility(world, order, line).is_eligible,
            reason=list(REASONS)[int(reason * len(REASONS))],
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
    """Return what the customer remembers: it singles out the line, and by ``order_list`` alone few enough orders."""
    codes = world.shop.catalog.category_codes
    kind = codes[target[1].row]
    lines = [(order, line) for order in world.orders for line in order.lines if codes[line.row] == kind]
    names = list(clues)
    order = [names[at] for at in streams.stream("memory").permutation(len(names)).tolist()]
    told = singled_out([clues[name] for name in order], lines)
    for name in LISTED:
        listed = [clue for clue in told if clue in (clues[other] for other in LISTED)]
        to_read = sum(all(clue.holds(line) for clue in listed) for line in lines)
        if to_read > world.axes.b_tool and clues[name] not in told:
            told.append(clues[name])
    return told


def _offered(scenario: Scenario[ReturnGoal], answer: Answer | None) -> int | None:
    """Return the product given or recommended instead: by the exchange of the line, else by the answer's first id."""
    goal, catalog = scenario.goal, scenario.world.shop.catalog
    for done in scenario.world.errand_returns:
        if done.line_id == goal.line_id and done.new_row is not None:
            return done.new_row
    if isinstance(answer, ReturnAnswer) and answer.recommended_product_ids:
        try:
            return catalog.row_of(answer.recommended_product_ids[0])
        except UnknownProductError:
            return None
    return None


def _share(scenario: Scenario[ReturnGoal], offered: int | None) -> Fraction:
    """Return the share of the wishes for something new that are met: all of none."""
    wanted = scenario.goal.replacement
    return Fraction(1) if wanted is None else share_met(scenario.world, wanted, offered)


def _return_score(scenario: Scenario[ReturnGoal], answer: ReturnAnswer) -> Fraction:
    """Return r_ret: 1, 0 where only reason or method differ, else -1 (SPEC §6)."""
    goal, world = scenario.goal, scenario.world
    if not goal.is_eligible:
        is_told = answer.resolution == "not_eligible" and goal.line_id in world.eligibility_read
        return Fraction(1 if is_told and not world.errand_returns else -1)
    if [(done.order_id, done.line_id) for done in world.errand_returns] != [(goal.order_id, goal.line_id)]:
        return Fraction(-1)
    done = world.errand_returns[0]
    if answer.resolution != ("exchanged" if done.method == EXCHANGE else "returned"):
        return Fraction(-1)
    return Fraction(int((done.reason, done.method) == (goal.reason, goal.method)))


ENVIRONMENT = ReturnEnvironment()
