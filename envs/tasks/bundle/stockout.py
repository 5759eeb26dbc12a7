"""Stock-outs of BUNDLE: the cheapest product of a need sells out, or others do (SPEC §6)."""

from __future__ import annotations

from numpy.random import Generator

from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.errand import Intent, Stockout
from ecom_rlve.envs.tasks.bundle.facts import PROJECT
from ecom_rlve.envs.tasks.bundle.goal import BundleGoal
from ecom_rlve.envs.tasks.bundle.needs import is_acceptable
from ecom_rlve.envs.world.stockout import TOGETHER, StockoutPlan


class BundleStockout(Stockout[BundleGoal]):
    """A product sells out; the customer leaves the replacement to the agent."""

    def sell(self, intent: Intent[BundleGoal]) -> None:
        """Let products sell out if it is time for it."""
        plan, goal, world = self.plan, intent.goal, intent.world
        need = goal.needs[plan.item - 1]
        if plan.fired:
            return
        if not plan.hits:
            plan.sell_unwanted(world, {each.cheapest for each in goal.needs})
            return
        if need.cheapest not in world.shown:
            return
        price, codes = world.shop.catalog.column("price").values, world.shop.catalog.category_codes
        kind = codes[need.cheapest]
        others = [row for row in world.shown if codes[row] == kind and row != need.cheapest and world.stock(row)]
        room = goal.budget - sum(int(price[other.cheapest]) for other in goal.needs if other is not need)
        fitting = [row for row in others if price[row] <= room and is_acceptable(world, need, row)]
        fitting.sort(key=lambda row: (price[row], row))
        if not fitting:
            return
        # Products that are in no right answer sell out first; the best alternative is kept.
        unwanted = [row for row in others if row not in fitting]
        gone = [*unwanted, fitting[0]] if len(unwanted) >= TOGETHER else others
        plan.sell_products(world, need.cheapest, gone, keep=fitting[0])

    def is_known(self, intent: Intent[BundleGoal]) -> bool:
        """Tell whether some result has shown the agent that a wanted thing is sold out."""
        plan = self.plan
        wanted = intent.goal.needs[plan.item - 1].cheapest
        return plan.fired and plan.hits and wanted in intent.world.stockouts_seen


def draw_stockout(count: int, axes: Axes, rng: Generator) -> BundleStockout:
    """Draw what may sell out of ``count`` needs."""
    hits, item = rng.random(2).tolist()
    at = PROJECT + 1 + int(item * count)
    return BundleStockout(StockoutPlan(hits=hits < axes.p_oos, item=at, kind="product", leave_out=False))
