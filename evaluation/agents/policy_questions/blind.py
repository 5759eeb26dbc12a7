"""A policy that reads the policy book and answers without reading the customer (SPEC §11)."""

from __future__ import annotations

import re
from typing import Any

from numpy.random import Generator

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, call
from ecom_rlve.evaluation.agents.idle import DONE

_FIGURE = re.compile(
    r"(?P<sign>[A-Z]{1,3}\$|[^\w\s.,;:]|[A-Z]{3} )(?P<money>\d[\d,]*(?:\.\d\d)?)"
    r"|(?P<number>\d+(?:\.\d+)?) (?P<unit>[a-z]+)"
)
_UNITS = {"$": "USD"}
_QUERIES = ("fee", "period", "window", "points", "department", "membership tier", "payment method", "order amount")


class BlindReader:
    """Reads section after section as long as there are turns, then answers a figure that it has read."""

    def __init__(self, rng: Generator | None) -> None:
        """``rng`` None answers the first figure read, else a random one."""
        self._rng = rng
        self._unread: dict[str, None] = {}
        self._known: set[str] = set()
        self._figures: list[dict[str, Any]] = []
        self._searches = list(_QUERIES)

    def act(self, result: StepResult) -> Action:
        """Return a search and more sections to read, in the last turn an answer."""
        observation = result.observation
        for shown in observation.tool_results:
            fields = shown.result or {}
            for found in fields.get("results", ()):
                if found["section_id"] not in self._known:
                    self._known.add(found["section_id"])
                    self._unread[found["section_id"]] = None
            self._figures += figures(fields.get("text", ""))
        if observation.turns_left <= 1 or not (self._unread or self._searches):
            return {"answer": self._answer()}
        room = observation.tool_calls_left
        calls = []
        if len(self._unread) < room and self._searches:
            calls.append(call("policy_search", query=self._searches.pop(0)))
        for section_id in list(self._unread)[: room - len(calls)]:
            del self._unread[section_id]
            calls.append(call("policy_get", section_id=section_id))
        return {"tool_calls": calls}

    def _answer(self) -> dict[str, Any]:
        if not self._figures:
            return DONE
        at = 0 if self._rng is None else int(self._rng.integers(len(self._figures)))
        return {"done": True, **self._figures[at]}


def figures(text: str) -> list[dict[str, Any]]:
    """Return every figure of a section as the fields of an answer."""
    return [
        {
            "value": float((match["money"] or match["number"]).replace(",", "")),
            "unit": _UNITS.get(sign, sign) if (sign := (match["sign"] or "").strip()) else match["unit"],
        }
        for match in _FIGURE.finditer(text)
    ]
