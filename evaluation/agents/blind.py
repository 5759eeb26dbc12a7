"""Policies that choose without reading the customer (SPEC §11): bounded by chance."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, call


class BlindRecommender:
    """Recommends what a search for nothing in particular shows, in its order or in a random one."""

    def __init__(self, rng: Generator | None) -> None:
        """``rng`` None keeps the order."""
        self._rng = rng
        self._looked = False

    def act(self, result: StepResult) -> Action:
        """Return a look, then a few of the products that it showed."""
        if not self._looked:
            self._looked = True
            return {"tool_calls": [call("catalog_search", query="popular products", limit=10)]}
        shown = [card for each in result.observation.tool_results for card in (each.result or {}).get("results", ())]
        ids = [card["product_id"] for card in shown]
        if self._rng is not None:
            ids = [ids[at] for at in self._rng.permutation(len(ids)).tolist()]
        return {"answer": {"done": True, "recommended_product_ids": ids[:3]}}


PAGE = 50


def picked(choices: list[dict[str, Any]], rng: Generator | None) -> dict[str, Any]:
    return choices[0 if rng is None else int(rng.integers(len(choices)))]
