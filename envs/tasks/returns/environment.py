"""RETURN, return and exchange: send back exactly the order line that the customer means, as they want it (SPEC §6)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ecom_rlve.catalog.constraints import is_satisfied
from ecom_rlve.envs.about import About
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.difficulty import Axes, axes_of
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.errand import Errand, Intent
from ecom_rlve.envs.goal import Review, Verdict
from ecom_rlve.envs.parts.solving import search_showing
from ecom_rlve.envs.scenario import Scenario, single
from ecom_rlve.envs.tasks.returns.goal import (
    NEW,
    THING,
    ReturnAnswer,
    ReturnGoal,
    intent_in,
    offered_product,
)
from ecom_rlve.envs.tasks.returns.replacement import most_constraints, share_met
from ecom_rlve.envs.world.eligibility import EXCHANGE
from ecom_rlve.envs.world.orders import MEAN_LINES, delivered_count, has_histories
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

_SELECTION, _RETURN, _REPLACEMENT = Fraction(45, 100), Fraction(45, 100), Fraction(10, 100)
"""Weights of r_sel, r_ret and r_rep (SPEC §6)."""
_BRIEF = (
    "The customer wants to send something back. Find the order line they mean (order_list shows lines and their ids, "
    "order_get prices and quantities; ask for what they have left out), see whether it can be returned "
    "(return_check_eligibility), and return or exchange exactly that line for the reason and with the method they "
    "give; nothing can be undone. If it is not eligible, initiate nothing, not even to see it refused, and answer with "
    'resolution "not_eligible". If they want another product, exchange the line for one that meets all their wishes, '
    "or, without an exchange, put its id first in recommended_product_ids; catalog_get_product shows what a card has "
    "no room for, and a proposal (done=false with the id) shows them the product first. Say in the answer what you did."
)


class ReturnEnvironment(Environment, Errand[ReturnGoal]):
    """Return and exchange."""

    about = About(
        id="RETURN",
        title="Return and exchange",
        version="4",
        called="the return",
        tool_names=(
            "order_list",
            "order_get",
            "return_check_eligibility",
            "return_initiate",
            "return_exchange",
            "catalog_search",
            "catalog_get_product",
            "catalog_get_variants",
            "ask_user",
        ),
        answer=ReturnAnswer,
        axes=("m", "p_missing", "eps_rank", "t_max", "p_noise", "top_k", "h_orders", "b_branch", "b_tool"),
        candidates=lambda axes: MEAN_LINES * delivered_count(axes.h_orders),
        needs="four leaf categories with exact prices in each split",
    )

    def brief(self, axes: Axes) -> str:  # noqa: ARG002 - every implementation gets it, this one decides without
        return _BRIEF

    def max_difficulty(self, shop: Shop) -> int:
        if not has_histories(shop):
            return -1
        # At d = 0 no replacement is wanted, so any catalog serves it.
        most = most_constraints(shop)
        return max((d for d in range(1, MAX_DIFFICULTY + 1) if axes_of(d).m <= most), default=0)

    def draw(self, world: World, streams: Streams) -> Scenario:
        return single(intent_in(self, world, streams))

    def review(self, intent: Intent[ReturnGoal], proposal: Answer | None) -> Review:
        goal, world = intent.goal, intent.world
        wrong: set[tuple[int, str]] = set()
        done = next((each for each in world.errand_returns if each.line_id == goal.line_id), None)
        if done is not None:
            wrong |= {(THING, name) for name in ("reason", "method") if getattr(done, name) != getattr(goal, name)}
        offered = offered_product(intent, proposal)
        if goal.replacement is not None and offered is not None:
            unmet = (
                slot
                for slot in intent.slots
                if slot.item == NEW and not is_satisfied(world.shop.catalog, slot.fact.constraint, offered)
            )
            wrong |= {(NEW, slot.name) for slot in unmet}
        share = _share(intent, offered)
        # Of what was done the customer names what is wrong. Of a mere proposal they say whether it fits, for its wrong
        # slots may all be unsaid.
        fits = share == 1 if proposal is not None else share > 0
        is_unwanted = offered is not None and (goal.replacement is None or not fits)
        stray = is_unwanted or any(each.line_id != goal.line_id for each in world.errand_returns)
        slots = tuple(slot for slot in intent.slots if (slot.item, slot.name) in wrong)
        is_offered = proposal is not None and offered is not None
        is_complete = (done is not None or is_offered) and not slots and not stray and share == 1
        return Review(slots, stray, is_complete, hides_unsaid=proposal is not None)

    def verify(self, intent: Intent[ReturnGoal], answer: Answer | None) -> Verdict:
        goal, world = intent.goal, intent.world
        ids = world.shop.catalog.ids
        exchanged = tuple(ids[done.new_row] for done in world.errand_returns if done.new_row is not None)
        if not isinstance(answer, ReturnAnswer):
            return Verdict(Fraction(-1), correct=False, output_ids=exchanged)
        is_selected = (answer.selected_order_id, answer.selected_line_id) == (goal.order_id, goal.line_id)
        r_sel = Fraction(1 if is_selected else -1)
        r_ret = _return_score(intent, answer)
        r_rep = Fraction(-1)
        if r_sel == r_ret == 1:
            r_rep = 2 * _share(intent, offered_product(intent, answer)) ** 4 - 1 if goal.is_eligible else Fraction(1)
        return Verdict(
            _SELECTION * r_sel + _RETURN * r_ret + _REPLACEMENT * r_rep,
            correct=r_sel == r_ret == r_rep == 1,
            output_ids=(*answer.recommended_product_ids, *exchanged),
        )

    def solve(self, intent: Intent[ReturnGoal]) -> dict[str, Any]:
        goal, world = intent.goal, intent.world
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

    def goal_json(self, intent: Intent[ReturnGoal]) -> dict[str, Any]:
        goal = intent.goal
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


def _share(intent: Intent[ReturnGoal], offered: int | None) -> Fraction:
    """Return the share of the wishes for a replacement that are met; 1 if no replacement is wanted."""
    wanted = intent.goal.replacement
    return Fraction(1) if wanted is None else share_met(intent.world, wanted, offered)


def _return_score(intent: Intent[ReturnGoal], answer: ReturnAnswer) -> Fraction:
    """Return r_ret: 1 if all is right, 0 if only reason or method differ, else -1 (SPEC §6).

    That a line is not eligible must have been read from a check. Whoever tried to initiate what cannot be returned has
    at most 0: only the store's refusal kept them from what cannot be undone.
    """
    goal, world = intent.goal, intent.world
    if not goal.is_eligible:
        is_told = answer.resolution == "not_eligible" and goal.line_id in world.eligibility_read
        if not is_told or world.errand_returns:
            return Fraction(-1)
        return Fraction(0 if goal.line_id in world.returns_refused else 1)
    if [(done.order_id, done.line_id) for done in world.errand_returns] != [(goal.order_id, goal.line_id)]:
        return Fraction(-1)
    done = world.errand_returns[0]
    if answer.resolution != ("exchanged" if done.method == EXCHANGE else "returned"):
        return Fraction(-1)
    return Fraction(int((done.reason, done.method) == (goal.reason, goal.method)))


ENVIRONMENT = ReturnEnvironment()
