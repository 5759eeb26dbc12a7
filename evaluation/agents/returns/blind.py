"""Policies for STATUS and RETURN that do not read the customer (SPEC §11): bounded by chance, or never right."""

from __future__ import annotations

from typing import Any, Literal

from numpy.random import Generator

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, call
from ecom_rlve.evaluation.agents.blind import PAGE, picked


class BlindLine:
    """Takes one order line, the first or a random one, and returns it if it can be returned (RETURN)."""

    def __init__(self, rng: Generator | None, then: Literal["as_checked", "not_eligible"] = "as_checked") -> None:
        """``rng`` None takes the first; ``then`` says whether what was checked is heeded."""
        self._rng = rng
        self._then = then
        self._looks = 0
        self._which: dict[str, str] = {}

    def act(self, result: StepResult) -> Action:
        """Return the next of: list, order, check, return with the answer."""
        self._looks += 1
        results = result.observation.tool_results
        seen: dict[str, Any] = (results[0].result or {}) if results else {}
        if self._looks == 1:
            return {"tool_calls": [call("order_list", limit=PAGE)]}
        if self._looks == 2:
            return {"tool_calls": [call("order_get", order_id=picked(seen["orders"], self._rng)["order_id"])]}
        if self._looks == 3:
            line = picked(seen["lines"], self._rng)
            self._which = {"order_id": seen["order_id"], "line_id": line["line_id"]}
            return {"tool_calls": [call("return_check_eligibility", **self._which)]}
        answer = {"done": True} | {f"selected_{name}": value for name, value in self._which.items()}
        if self._then == "not_eligible" or not seen["eligible"]:
            return {"answer": {**answer, "resolution": "not_eligible"}}
        sent = call("return_initiate", **self._which, reason="defective", method="original_payment")
        return {"tool_calls": [sent], "answer": {**answer, "resolution": "returned"}}


class ReturnEveryLine:
    """Reads orders and returns every line it can (RETURN)."""

    def __init__(self) -> None:
        self._orders: list[str] | None = None
        self._lines: list[dict[str, str]] = []

    def act(self, result: StepResult) -> Action:
        """Return the list, then orders and returns in turn until turns run out, then an answer."""
        observation = result.observation
        for shown in observation.tool_results:
            found = shown.result or {}
            if self._orders is None and "orders" in found:
                self._orders = [order["order_id"] for order in found["orders"]]
            self._lines += [
                {"order_id": found["order_id"], "line_id": line["line_id"]} for line in found.get("lines", ())
            ]
        room = observation.tool_calls_left
        if self._orders is None:
            return {"tool_calls": [call("order_list", limit=PAGE)]}
        if observation.turns_left <= 1:
            last = {f"selected_{name}": value for name, value in (self._lines[-1] if self._lines else {}).items()}
            return {"answer": {"done": True, **last, "resolution": "returned"}}
        if observation.turn % 2:
            batch, self._orders = self._orders[:room], self._orders[room:]
            return {"tool_calls": [call("order_get", order_id=order_id) for order_id in batch]}
        lines = self._lines[-room:]
        return {
            "tool_calls": [
                call("return_initiate", **line, reason="defective", method="original_payment") for line in lines
            ]
        }
