"""Blind policies of CART."""

from __future__ import annotations

from typing import Literal

from numpy.random import Generator

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, call
from ecom_rlve.evaluation.agents.idle import DONE


class BlindCart:
    """Adds one product it was shown, the first or a random one, and submits."""

    def __init__(self, source: Literal["catalog_search", "user_get_visit_history"], rng: Generator | None) -> None:
        """``source`` is the tool that shows products; ``rng`` None takes the first of them."""
        self._source = source
        self._rng = rng
        self._looked = False

    def act(self, result: StepResult) -> Action:
        """Return a look, then an addition with the final answer."""
        if not self._looked:
            self._looked = True
            args = {"query": "popular products", "limit": 10} if self._source == "catalog_search" else {}
            return {"tool_calls": [call(self._source, **args)]}
        cards = [card for shown in result.observation.tool_results for card in (shown.result or {}).get("results", ())]
        if not cards:
            return {"answer": DONE}
        at = 0 if self._rng is None else int(self._rng.integers(len(cards)))
        return {"tool_calls": [call("cart_add", product_id=cards[at]["product_id"])], "answer": DONE}
