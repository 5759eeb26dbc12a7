"""Changes of mind of PD: another wish in the place of one, under which what was best is wrong (SPEC §6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from ecom_rlve.catalog.constraints import Constraint, all_met
from ecom_rlve.envs.parts.constraints import MOST_ALTERNATIVES, natural_constraint, stated_price_bound, widened
from ecom_rlve.envs.parts.recommendation import buyable, fewest_fitting, most_fitting
from ecom_rlve.envs.parts.scores import Gains
from ecom_rlve.envs.tasks.product_discovery import preferences
from ecom_rlve.envs.tasks.product_discovery.draft import LEAST_NDCG, Draft, looked_through
from ecom_rlve.envs.world.stockout import ProductCoins
from ecom_rlve.envs.world.world import World

_TRIES, _MORE_TRIES = 4, 12
"""Products from which another wish is drawn, for each wish; the second where it is hard to find one."""


def with_change(world: World, draft: Draft, rng: Generator, alternatives: int) -> Draft | None:
    """Return a draft with what the customer wants after a change of mind; None if no change was found.

    One wish, each as likely, is replaced by one that another product meets which meets all others: the same kinds of
    wishes, drawn in the same way, and widened alone. Where more than the usual ``alternatives`` have to be allowed, it
    may be any product that meets the price, and the other wishes, unsaid as yet, widen too. The list that was best
    before must be wrong after it: who does not listen is never right.
    """
    aisle = world.shop.aisle(world.shop.catalog.category_of(int(draft.fitting[0])).name)
    can_buy, coins = buyable(world, aisle), ProductCoins(world, aisle.category)
    fewest, most = fewest_fitting(world.axes), max(most_fitting(world.axes), draft.looked_through)
    is_hard = alternatives > MOST_ALTERNATIVES

    def drawn(constraints: tuple[Constraint, ...]) -> Draft:
        fitting = aisle.rows[all_met(aisle, constraints, can_buy)]
        return Draft(constraints, fitting, draft.priority, looked_through(aisle, constraints, can_buy))

    def best_of(each: Draft) -> list[int]:
        return _gains(world, coins, each).best_rows(world.axes.k_rec)

    own = best_of(draft)
    for at in rng.permutation(len(draft.constraints)).tolist():
        price, *others = draft.constraints
        rest = all_met(aisle, _replaced(draft.constraints, at), can_buy)
        pool = all_met(aisle, [price], can_buy) if is_hard and at else rest
        tried = {draft.constraints[at]}
        for place in rng.permutation(np.flatnonzero(pool))[: _MORE_TRIES if is_hard else _TRIES].tolist():
            wish = _wish(world, int(aisle.rows[place]), draft.constraints[at].attribute, float(rng.random()))
            if wish is None or wish in tried:
                continue
            tried.add(wish)
            if is_hard and at:
                grown, _ = widened(aisle, _replaced(others, at - 1, wish), pool, fewest, alternatives)
                first = drawn((price, *_replaced(grown, at - 1, draft.constraints[at])))
                best, second = best_of(first), drawn((price, *grown))
            else:
                first, best = draft, own
                (wider,), _ = widened(aisle, [wish], rest, fewest, alternatives)
                second = drawn(_replaced(draft.constraints, at, wider))
            if len(second.fitting) < fewest or max(first.looked_through, second.looked_through) > most:
                continue
            if _is_wrong(best, _gains(world, coins, second)):
                return replace(first, revised=(at, second))
    return None


def _replaced(constraints: Sequence[Constraint], at: int, *other: Constraint) -> tuple[Constraint, ...]:
    """Return the constraints with another one in a place, or with none there."""
    return (*constraints[:at], *other, *constraints[at + 1 :])


def _gains(world: World, coins: ProductCoins, draft: Draft) -> Gains:
    """Return what each product gains that fits and stays."""
    return preferences.gains(world.shop.catalog, coins.standing(draft.fitting), draft.constraints, draft.priority)


def _is_wrong(best: Sequence[int], after: Gains) -> bool:
    """Tell whether the list that was best is wrong after the change, and some product that then fits stays."""
    return len(after.rows) > 0 and (best[0] not in after.rows or after.score(best, len(best)) < LEAST_NDCG)


def _wish(world: World, row: int, name: str, slack: float) -> Constraint | None:
    """Return the wish on an attribute that a product would be drawn with; None if it is not known of the product."""
    catalog = world.shop.catalog
    value, is_floor = catalog.value(row, name), catalog.column(name).is_floor
    if value is None or (is_floor is not None and is_floor[row]):
        return None
    return (
        stated_price_bound(int(value), world.axes.d, slack)
        if name == "price"
        else natural_constraint(catalog, row, name)
    )
