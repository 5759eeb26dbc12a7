"""What PD and SUB share, whose answer is a list of recommended products, best first (SPEC §6)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from ecom_rlve.catalog.columns.aisle import Aisle
from ecom_rlve.catalog.columns.row_set import RowSet
from ecom_rlve.catalog.constraints import Constraint, is_satisfied
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.errand import Errand, Intent
from ecom_rlve.envs.goal import Review, Verdict
from ecom_rlve.envs.parts.scores import Gains
from ecom_rlve.envs.parts.solving import search_showing
from ecom_rlve.envs.parts.stockout import ShelfStockout
from ecom_rlve.envs.tools.catalog import MAX_LIMIT, SearchArgs, ranked_page
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.stockout import ProductCoins
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import Split

TOOL_NAMES = ("catalog_search", "catalog_get_product", "catalog_rerank", "ask_user")
"""The tools of both environments."""
REDRAWS = 50
"""How often products are drawn again before a generator gives up (SPEC §6)."""
PATIENCE = 4
"""After so many draws that more products fit than preferred, the one with the fewest is taken."""

_LEAST_LEFT, _LEAST_LEFT_WHERE_ALL_STAYS = 6, 4
"""The fewest products that fit at the start, where things sell out during the dialogue and where nothing does."""
_TRIES = 64
_REACTIONS = 3
"""Proposed ids that the customer reacts to (SPEC §2.2)."""
# What two turns of searching show, 10 products for each tool call; never more than 60 (SPEC §6).
_MOST_PAGES, _PAGE_TURNS = 60, 20

Rows = NDArray[np.int32]


class RecommendationAnswer(Answer):
    """A list of products."""

    recommended_product_ids: list[str] = Field(default_factory=list, description="Product ids, best first.")


@dataclass(frozen=True, slots=True)
class Ranking:
    """A list of recommendations, cut to the number asked for, with what its score is made of."""

    rows: tuple[int | None, ...]
    """None for an id that was never shown, whether or not a product has it."""
    ndcg: Fraction
    """0 to 1."""
    out_of_stock: Fraction
    """Share of entries that cannot be bought, 0 to 1."""


class RankedGoal(Protocol):
    """What the goals of PD and SUB share."""

    @property
    def fitting(self) -> Rows:
        """Products that may be recommended and do not sell out; ascending."""

    @property
    def wanted(self) -> int:
        """The one with the greatest gain."""


Goal = TypeVar("Goal", bound=RankedGoal)


class RecommendingEnvironment(Environment, Errand[Goal]):
    """The base of PD and SUB. A subclass decides which products fit and how good each of them is."""

    @abstractmethod
    def gains(self, intent: Intent[Goal], rows: Rows) -> Gains:
        """Return the gain of each of ``rows``, which are the products that fit and are in stock."""

    @abstractmethod
    def judge(self, intent: Intent[Goal], ranking: Ranking) -> tuple[Fraction, bool]:
        """Return r_task of a non-empty list, and whether it is correct."""

    @abstractmethod
    def required(self, goal: Goal) -> Sequence[Constraint]:
        """Return the constraints that every fitting product meets."""

    def gains_now(self, intent: Intent[Goal]) -> Gains:
        """Return the gains of the products that fit and can be bought now."""
        return self.gains(intent, fitting_now(intent))

    def review(self, intent: Intent[Goal], proposal: Answer | None) -> Review:
        if not isinstance(proposal, RecommendationAnswer) or not proposal.recommended_product_ids:
            return Review(hides_unsaid=True)
        world = intent.world
        rows = _rows_of(world, proposal.recommended_product_ids[:_REACTIONS])
        strange = [row for row in rows if row is None or not fits(intent, row)]
        broken = {
            constraint
            for constraint in self.required(intent.goal)
            if any(row is not None and not is_satisfied(world.shop.catalog, constraint, row) for row in strange)
        }
        wrong = tuple(slot for slot in intent.slots if slot.fact.constraint in broken)
        return Review(wrong, stray=bool(strange), complete=not strange, hides_unsaid=True)

    def verify(self, intent: Intent[Goal], answer: Answer | None) -> Verdict:
        ids = tuple(answer.recommended_product_ids) if isinstance(answer, RecommendationAnswer) else ()
        if not ids:
            return Verdict(Fraction(-1), correct=False)
        world = intent.world
        rows = tuple(_rows_of(world, ids[: world.axes.k_rec]))
        missing = sum(row is None or world.stock(row) < 1 for row in rows)
        ndcg = self.gains_now(intent).score(rows, world.axes.k_rec)
        r_task, is_correct = self.judge(intent, Ranking(rows, ndcg, Fraction(missing, len(rows))))
        return Verdict(max(Fraction(-1), min(Fraction(1), r_task)), is_correct, ids)

    def solve(self, intent: Intent[Goal]) -> dict[str, Any]:
        world = intent.world
        best = self.gains_now(intent).best_rows(world.axes.k_rec)
        calls: list[dict[str, Any]] = []
        showing = set(world.shown)
        for row in best:
            if row not in showing and len(calls) < world.axes.b_tool:
                args = search_showing(world, row)
                showing.update(ranked_page(world, SearchArgs.model_validate(args))[0][:MAX_LIMIT])
                calls.append({"name": "catalog_search", "args": args})
        if calls:
            return {"tool_calls": calls}
        ids = world.shop.catalog.ids
        return {"answer": {"done": True, "recommended_product_ids": [ids[row] for row in best]}}

    def best_ids(self, intent: Intent[Goal]) -> list[str]:
        """Return the product ids of the best possible list, for people to read."""
        ids = intent.world.shop.catalog.ids
        return [ids[row] for row in self.gains_now(intent).best_rows(intent.world.axes.k_rec)]


def fitting_now(intent: Intent[Goal]) -> Rows:
    """Return the products that fit and have not sold out, ascending."""
    rows = intent.goal.fitting
    gone = intent.world.sold_out
    return rows[~np.isin(rows, list(gone))] if gone else rows


def fits(intent: Intent[Goal], row: int) -> bool:
    """Tell whether a product fits and has not sold out."""
    rows = intent.goal.fitting
    at = int(np.searchsorted(rows, row))
    return at < len(rows) and int(rows[at]) == row and row not in intent.world.sold_out


def buyable(world: World, aisle: Aisle) -> NDArray[np.bool_]:
    """Tell for each product of an aisle whether it can be bought in this world."""
    can_buy = aisle.column("stock").values[:] > 0
    code = world.shop.catalog.category_index[aisle.category]
    for row in world.sold_out:
        if world.shop.catalog.category_codes[row] == code:
            can_buy[aisle.place_of(row)] = False
    return can_buy


def _rows_of(world: World, ids: Sequence[str]) -> list[int | None]:
    return [world.shown_row(product_id) for product_id in ids]


def fewest_fitting(axes: Axes) -> int:
    """Return the least number of products that fit at the start (SPEC §6, PD)."""
    return _LEAST_LEFT if axes.p_oos else _LEAST_LEFT_WHERE_ALL_STAYS


def most_fitting(axes: Axes) -> int:
    """Return the preferred highest number of fitting products: as many as two turns of searching can show."""
    return min(_MOST_PAGES, _PAGE_TURNS * axes.b_tool)


def shelf_stockout(world: World, category: str, fitting: Rows) -> tuple[ShelfStockout, Rows]:
    """Return what sells out of a kind, and those of the products that fit that do not."""
    coins = ProductCoins(world, category)
    return ShelfStockout(coins), coins.standing(fitting)


def one_stays(world: World, fitting: Rows) -> bool:
    """Tell whether one of the products, all of one kind and at least one, does not sell out."""
    if not world.axes.p_oos:
        return True
    category = world.shop.catalog.category_of(int(fitting[0])).name
    return len(ProductCoins(world, category).standing(fitting)) > 0


def target_among(shop: Shop, rows: RowSet, rng: Generator, split: Split) -> int | None:
    """Return a random one of ``rows`` that belongs to the split; None if 64 tries find none."""
    if not len(rows):
        return None
    drawn = map(rows.row, rng.integers(len(rows), size=_TRIES).tolist())
    return next((row for row in drawn if shop.split(row) == split), None)


def targets_in(shop: Shop, counts: NDArray[np.int8], m: int, is_roomy: NDArray[np.bool_]) -> RowSet:
    """Return the products whose count is ``m`` or more, in categories that are large enough (``is_roomy``, by code)."""
    return RowSet((counts >= m) & is_roomy[shop.catalog.category_codes])
