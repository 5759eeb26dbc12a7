"""Blind policies of STATUS."""

from __future__ import annotations

from numpy.random import Generator

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, call
from ecom_rlve.evaluation.agents.blind import PAGE, picked


class BlindOrder:
    """Lists the orders, reads one of them, the first or a random one, and reports it (STATUS)."""

    def __init__(self, rng: Generator | None) -> None:
        """``rng`` None takes the first order."""
        self._rng = rng
        self._looks = 0

    def act(self, result: StepResult) -> Action:
        """Return a look at the list, a look at an order, then an answer from it."""
        self._looks += 1
        results = result.observation.tool_results
        if self._looks == 1:
            return {"tool_calls": [call("order_list", limit=PAGE)]}
        if self._looks == 2:
            orders = (results[0].result or {})["orders"]
            return {"tool_calls": [call("order_get", order_id=picked(orders, self._rng)["order_id"])]}
        order = results[0].result or {}
        answer = {
            "done": True,
            "selected_order_id": order["order_id"],
            "order_status": order["status"],
            "eta_date": order.get("delivered", order.get("eta")),
        }
        return {"answer": answer}
