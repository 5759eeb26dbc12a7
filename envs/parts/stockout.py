"""Stock-outs that the customer leaves to the agent: products of the wanted kind sell out (SPEC §6: PD, SUB, BUNDLE)."""

from __future__ import annotations

from typing import Any

from ecom_rlve.envs.errand import Intent, Stockout
from ecom_rlve.envs.world.stockout import ProductCoins


class ShelfStockout(Stockout[Any]):
    """Products of one kind sell out; what is left is as good as before, and nothing need be said."""

    leaves_choice = True

    def __init__(self, coins: ProductCoins) -> None:
        self.coins = coins

    def sell(self, intent: Intent[Any]) -> None:
        self.coins.sell(intent.world)
