"""Changes of mind of PD: another wish in the place of one, under which what was best is wrong (SPEC §6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.aisle import Aisle
from ecom_rlve.catalog.constraints import Constraint, all_met
from ecom_rlve.envs.parts.constraints import MOST_ALTERNATIVES, Places, natural_constraint, stated_price_bound, widened
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
    change = _Change.of(world, draft, alternatives)
    aisle, can_buy = change.aisle, change.can_buy
    own = change.best_of(draft)
    for at in rng.permutation(len(draft.constraints)).tolist():
        rest = all_met(aisle, _replaced(draft.constraints, at), can_buy)
        pool = all_met(aisle, draft.constraints[:1], can_buy) if change.is_hard and at else rest
        tried = {draft.constraints[at]}
        for place in rng.permutation(np.flatnonzero(pool))[: _MORE_TRIES if change.is_hard else _TRIES].tolist():
            wish = _wish(world, int(aisle.rows[place]), draft.constraints[at].attribute, float(rng.random()))
            if wish is None or wish in tried:
                continue
            tried.add(wish)
            if found := change.to(at, wish, pool, own):
                first, second = found
                return replace(first, revised=(at, second))
    return None


@dataclass(frozen=True, eq=False, slots=True)
class _Change:
    """What all tries of one draft share."""

    world: World
    draft: Draft
    aisle: Aisle
    can_buy: NDArray[np.bool_]
    coins: ProductCoins
    alternatives: int

    @classmethod
    def of(cls, world: World, draft: Draft, alternatives: int) -> _Change:
        aisle = world.shop.aisle(world.shop.catalog.category_of(int(draft.fitting[0])).name)
        return cls(world, draft, aisle, buyable(world, aisle), ProductCoins(world, aisle.category), alternatives)

    @property
    def is_hard(self) -> bool:
        """Whether the other wishes may widen too."""
        return self.alternatives > MOST_ALTERNATIVES

    def best_of(self, draft: Draft) -> list[int]:
        return _gains(self.world, self.coins, draft).best_rows(self.world.axes.k_rec)

    def to(self, at: int, wish: Constraint, pool: NDArray[np.bool_], own: list[int]) -> tuple[Draft, Draft] | None:
        """Return what the customer wants at first and then, if another wish at ``at`` makes a change; else None.

        ``own`` is the best list of the draft. From the cheapest test to the dearest: most tries fail.
        """
        draft, fewest = self.draft, fewest_fitting(self.world.axes)
        most = max(most_fitting(self.world.axes), draft.looked_through)
        widens_all = self.is_hard and at > 0
        price, *others = draft.constraints
        stated = _replaced(others, at - 1, wish) if widens_all else (wish,)
        wider, places = widened(self.aisle, stated, pool, fewest, self.alternatives)
        if len(places) < fewest:
            return None
        second = self._drawn((price, *wider) if widens_all else _replaced(draft.constraints, at, *wider), places)
        if second.looked_through > most:
            return None
        first, best = draft, own
        if widens_all:
            sooner = (price, *_replaced(wider, at - 1, draft.constraints[at]))
            first = self._drawn(sooner, np.flatnonzero(all_met(self.aisle, sooner, self.can_buy)))
            if first.looked_through > most:
                return None
            best = self.best_of(first)
        return (first, second) if _is_wrong(best, _gains(self.world, self.coins, second)) else None

    def _drawn(self, constraints: tuple[Constraint, ...], places: Places) -> Draft:
        return Draft(
            constraints,
            self.aisle.rows[places],
            self.draft.priority,
            looked_through(self.aisle, constraints, self.can_buy),
        )


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
        stated_price_bound(int(value), world.axes.d, slack, world.shop.catalog.currency)
        if name == "price"
        else natural_constraint(catalog, row, name)
    )
