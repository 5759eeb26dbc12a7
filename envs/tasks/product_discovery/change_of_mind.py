"""Changes of mind of PD: another wish in the place of one, under which what was best is wrong (SPEC §6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from ecom_rlve.catalog.constraints import Constraint, all_met
from ecom_rlve.envs.parts.constraints import natural_constraint, stated_price_bound, widened
from ecom_rlve.envs.parts.recommendation import buyable, fewest_fitting, most_fitting
from ecom_rlve.envs.parts.scores import Gains
from ecom_rlve.envs.tasks.product_discovery import preferences
from ecom_rlve.envs.tasks.product_discovery.draft import LEAST_NDCG, Draft, looked_through
from ecom_rlve.envs.world.stockout import ProductCoins
from ecom_rlve.envs.world.world import World

_TRIES = 4
"""Products from which another wish is drawn, for each wish."""


def with_change(world: World, draft: Draft, rng: Generator, alternatives: int) -> Draft | None:
    """Return a draft with what the customer wants after a change of mind; None if no change was found.

    One wish, each as likely, is replaced by one that another product meets which meets all others: the same kinds of
    wishes, drawn in the same way. It is widened alone, because the others were said. The list that was best before must
    be wrong after it: who does not listen is never right.
    """
    aisle = world.shop.aisle(world.shop.catalog.category_of(int(draft.fitting[0])).name)
    can_buy, coins = buyable(world, aisle), ProductCoins(world, aisle.category)
    fewest, most = fewest_fitting(world.axes), max(most_fitting(world.axes), draft.looked_through)
    best = _gains(world, coins, draft).best_rows(world.axes.k_rec)
    for at in rng.permutation(len(draft.constraints)).tolist():
        others = [each for other, each in enumerate(draft.constraints) if other != at]
        rest = all_met(aisle, others, can_buy)
        tried = {draft.constraints[at]}
        for place in rng.permutation(np.flatnonzero(rest))[:_TRIES].tolist():
            wish = _wish(world, int(aisle.rows[place]), draft.constraints[at].attribute, float(rng.random()))
            if wish is None or wish in tried:
                continue
            tried.add(wish)
            (wider,), fitting = widened(aisle, [wish], rest, fewest, alternatives)
            if len(fitting) < fewest:
                continue
            constraints = (*draft.constraints[:at], wider, *draft.constraints[at + 1 :])
            second = Draft(
                constraints, aisle.rows[fitting], draft.priority, looked_through(aisle, constraints, can_buy)
            )
            if second.looked_through <= most and _is_wrong(best, _gains(world, coins, second)):
                return replace(draft, revised=(at, second))
    return None


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
