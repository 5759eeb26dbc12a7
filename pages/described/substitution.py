"""The section of SUB."""

from __future__ import annotations

from typing import Any

from describing import ASKED_FOR, CONSTRAINTS, SEARCHED, Counts, Described
from reward_sums import Sum, ndcg_sum, short

from ecom_rlve.envs.scenario import Scenario


def _counts(scenario: Scenario[Any]) -> Counts:
    goal = scenario.goal
    return {"constraints": (len(goal.required) + len(goal.wished), 1), "asked for": (scenario.world.axes.k_rec, 1)}


def _reward(scenario: Scenario[Any], answer: dict[str, Any]) -> Sum:
    said, value = ndcg_sum("SUB", scenario, answer)
    return f"{said}; 2·{short(value)} − 1", 2 * value - 1


DESCRIBED = Described("SUB", (CONSTRAINTS, *SEARCHED, ASKED_FOR), _counts, _reward)
