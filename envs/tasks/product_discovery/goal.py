"""The goal of PD: constraints drawn from a target product."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.row_set import RowSet
from ecom_rlve.catalog.constraints import Constraint, Op, all_met
from ecom_rlve.envs.errand import Change, Errand, Intent, Revision, Subject
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Fact
from ecom_rlve.envs.parts.change_of_mind import revising, turn_of_change
from ecom_rlve.envs.parts.constraints import (
    MOST_ALTERNATIVES,
    can_be_met,
    natural_constraint,
    stated_price_bound,
    usable_counts,
    usable_names,
    widened,
)
from ecom_rlve.envs.parts.description import facts_of
from ecom_rlve.envs.parts.recommendation import (
    PATIENCE,
    REDRAWS,
    Rows,
    buyable,
    fewest_fitting,
    most_fitting,
    one_stays,
    shelf_stockout,
    target_among,
    targets_in,
)
from ecom_rlve.envs.parts.small_shops import highest_served
from ecom_rlve.envs.parts.stockout import ShelfStockout
from ecom_rlve.envs.tasks.product_discovery import preferences
from ecom_rlve.envs.tasks.product_discovery.change_of_mind import with_change
from ecom_rlve.envs.tasks.product_discovery.draft import Draft, looked_through
from ecom_rlve.envs.tasks.product_discovery.forms import drawn_forms, in_forms
from ecom_rlve.envs.tasks.product_discovery.opening import opening
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.streams import Streams

_MOST_AIMED_AT = 12
"""If few products fit, the constraints are widened until a drawn number of them do, from the fewest that may to this
one, so that the length of the list matters."""
_FIRST_DRAWS = 15
"""After so many draws of which too few products fit, an equality may have three values: where everything known of a
product counts, two values of each are sometimes met by too few others."""
_ROOM_PER_CONSTRAINT = 4
"""Products that a category must have for each constraint, so that some of them are alike in all."""
_MOST_OF_A_KIND = Fraction(1, 2)
"""Greatest share of the targets that may be of one kind. In shops of 300 to 10,000 products the cheapest of the right
kind are the right answer in at most 0.23 of the episodes at d = 0, the best rated and the fastest in fewer. So a bet on
one kind is right in at most 0.115, within 1.5 times the 1/12 that blind policies may reach (SPEC §11)."""
_TURNS_AFTER = 3
"""Turns from a change of mind to the answer: two of searching, as before it, and the answer's."""


@dataclass(frozen=True, eq=False, slots=True)
class DiscoveryGoal:
    """What the customer wants."""

    category: str
    constraints: tuple[Constraint, ...]
    """All constraints, the one on the price first; another one is on rating, delivery or brand."""
    priority: str
    """The dimension that matters most to the customer; one of those with a constraint."""
    fitting: Rows
    """Products that meet every constraint, are in stock at the start and do not sell out; ascending, at least one."""
    wanted: int
    """The best of them."""


def intent_in(errand: Errand[DiscoveryGoal], world: World, streams: Streams) -> Intent[DiscoveryGoal]:
    """Draw an intent in a world, with a target of the world's split."""
    turn, currency = turn_of_change(world, errand.about.id), world.shop.catalog.currency
    draft, redraws = _draw_constraints(world, streams, is_revised=turn is not None)
    kind = world.shop.catalog.category_of(int(draft.fitting[0]))
    stockout, _ = shelf_stockout(world, kind.name, draft.fitting)
    facts = (*facts_of(draft.constraints, currency), preferences.priority_fact(draft.priority))
    slots = tuple(Slot(0, fact) for fact in facts)
    revision = None
    if turn is not None and draft.revised is not None:
        at, second = draft.revised
        (fact,) = facts_of([second.constraints[at]], currency)
        revision = WishRevision(turn, slots[at], fact, _goal(world, kind.name, second, stockout))
    world.full_cards = True
    return Intent(
        errand,
        goal=_goal(world, kind.name, draft, stockout),
        world=world,
        subjects=(Subject(kind.singular, kind.plural, kind.name),),
        slots=slots,
        streams=streams,
        opening=opening,
        stockout=stockout,
        revision=revision,
        redraws=redraws,
    )


class WishRevision(Revision[DiscoveryGoal]):
    """The customer has another wish in the place of one that they had said."""

    def __init__(self, turn: int, slot: Slot, fact: Fact, goal: DiscoveryGoal) -> None:
        super().__init__(turn, slot)
        self._fact, self.goal = fact, goal

    def change(self, intent: Intent[DiscoveryGoal]) -> Change | None:
        return revising(intent, self.slot, self._fact, self.goal)

    def turns_after(self, intent: Intent[DiscoveryGoal], change: Change) -> int:  # noqa: ARG002 - every implementation gets them, this one needs neither
        return _TURNS_AFTER


def _goal(world: World, category: str, draft: Draft, stockout: ShelfStockout) -> DiscoveryGoal:
    fitting = stockout.coins.standing(draft.fitting)
    gains = preferences.gains(world.shop.catalog, fitting, draft.constraints, draft.priority)
    return DiscoveryGoal(category, draft.constraints, draft.priority, fitting, gains.best_rows(1)[0])


def highest_difficulty(shop: Shop) -> int:
    """Return the highest difficulty that the shop can serve, -1 if there is none."""
    return highest_served(shop, lambda axes: shop.derive(_targets, axes.m), _MOST_OF_A_KIND, _comes_off)


def _comes_off(world: World, streams: Streams) -> bool:
    """Tell whether one draw of constraints comes off, where an equality may have three values."""
    rng, forms = streams.stream("wishes"), streams.stream("forms")
    draft = _drawn(world, rng, forms, float(streams.stream("priority").random()), MOST_ALTERNATIVES + 1)
    return draft is not None and one_stays(world, draft.fitting)


def _are_roomy(shop: Shop, m: int) -> NDArray[np.bool_]:
    """Tell for each category whether it is large enough for ``m`` constraints."""
    return shop.kind_sizes >= _ROOM_PER_CONSTRAINT * m


def _targets(shop: Shop, m: int) -> RowSet:
    """Return the products from which ``m`` constraints can be drawn, in categories that are large enough."""
    return targets_in(shop, usable_counts(shop), m, _are_roomy(shop, m))


def _draw_constraints(world: World, streams: Streams, *, is_revised: bool) -> tuple[Draft, int]:
    """Return constraints that enough products meet, one of which does not sell out, and the number of redraws.

    If ``is_revised``, what the customer wants after a change of mind is drawn with them.
    """
    axes, fewest, most = world.axes, fewest_fitting(world.axes), most_fitting(world.axes)
    spare: Draft | None = None
    too_many = 0
    # Drawn once: draws that are given up sooner would make some priorities rarer than others.
    valued = float(streams.stream("priority").random())
    for attempt in range(REDRAWS + 1):
        alternatives = MOST_ALTERNATIVES + (attempt >= _FIRST_DRAWS)
        rng, forms = streams.stream("wishes", attempt), streams.stream("forms", attempt)
        draft = _drawn(world, rng, forms, valued, alternatives)
        if draft is None or not one_stays(world, draft.fitting):
            continue
        if is_revised:
            draft = with_change(world, draft, streams.stream("revision", attempt), alternatives)
            if draft is None:
                continue
        if draft.looked_through <= most:
            return draft, attempt
        too_many += 1
        spare = draft if spare is None or draft.looked_through < spare.looked_through else spare
        if too_many == PATIENCE:
            return spare, attempt
    if spare is not None:
        return spare, REDRAWS
    raise GenerationError(
        f"no {axes.m} constraints that {fewest} products meet were found in split {world.split!r} after "
        f"{REDRAWS} redraws; use another seed or a larger catalog"
    )


def _drawn(world: World, rng: Generator, forms: Generator, valued: float, alternatives: int) -> Draft | None:
    """Return the constraints of one draw and the products that meet them; None if there is no target or too few do.

    ``valued`` in [0, 1) chooses the top priority; ``forms`` decides which wishes are ranges and exclusions.
    """
    catalog, axes = world.shop.catalog, world.axes
    targets = world.shop.derive(_targets, axes.m)
    slack, breadth = rng.random(2).tolist()
    target = target_among(world.shop, targets, rng, world.split)
    if target is None:
        return None
    aisle = world.shop.aisle(catalog.category_of(target).name)
    can_buy = buyable(world, aisle)
    bound = stated_price_bound(int(catalog.column("price").values[target]), axes.d, slack, catalog.currency)
    among, fewest = all_met(aisle, [bound], can_buy), fewest_fitting(axes)
    wishes = {name: natural_constraint(catalog, target, name) for name in usable_names(catalog, target, rng)}
    usable = [name for name, wish in wishes.items() if can_be_met(aisle, wish, among, fewest, alternatives)]
    if len(usable) < axes.m - 1:
        return None
    names, priority = _names_and_priority(usable, axes.m - 1, valued)
    stated = [wishes[name] for name in names]
    enough = fewest + int(breadth * (_MOST_AIMED_AT - fewest + 1))
    draws = forms.random((axes.m, 4)).tolist()
    wanted_forms = drawn_forms([bound, *stated], draws)
    plain = [each for each, form in zip(stated, wanted_forms[1:], strict=True) if form is not Op.NONE_OF]
    wider, fitting = widened(aisle, plain, among, enough, alternatives)
    if any(wanted_forms):
        # What leaves something out leaves out what would otherwise fit; the wishes beside it only grow from here on.
        grown = iter(wider)
        wider = tuple(
            each if form is Op.NONE_OF else next(grown) for each, form in zip(stated, wanted_forms[1:], strict=True)
        )
        bound, *rest = in_forms(aisle, target, [bound, *wider], wanted_forms, fitting, draws)
        wider, fitting = widened(aisle, rest, all_met(aisle, [bound], can_buy), enough, alternatives)
    if len(fitting) < fewest:
        return None
    constraints = (bound, *wider)
    return Draft(constraints, aisle.rows[fitting], priority, looked_through(aisle, constraints, can_buy))


def _names_and_priority(usable: list[str], count: int, draw: float) -> tuple[list[str], str]:
    """Return ``count`` of the usable names, which are in random order, and the top priority.

    ``draw`` in [0, 1) chooses the priority among price and the dimensions that can be constrained, each as likely. It
    is constrained, and so is at least one other dimension: the price always is.
    """
    others = [name for name in usable if name in preferences.DIMENSIONS]
    dimensions = [name for name in preferences.DIMENSIONS if name == "price" or name in others]
    priority = dimensions[int(draw * len(dimensions))]
    constrained = others[0] if priority == "price" and others else priority
    return sorted(usable, key=lambda name: name != constrained)[:count], priority
