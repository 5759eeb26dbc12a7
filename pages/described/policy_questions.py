"""The section of POLICY."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from describing import CALLS, MISSING, SLIPS, TURNS, Counts, Described, axis_row
from reward_sums import Sum, short

from ecom_rlve.envs.scenario import Scenario


def _counts(scenario: Scenario[Any]) -> Counts:
    return {"branching": (len(scenario.goal.situation), 1)}


def _reward(scenario: Scenario[Any], answer: dict[str, Any]) -> Sum:
    truth, given = scenario.goal.truth, answer["value"]
    if isinstance(given, str):
        return f"the date is {truth.isoformat()}, the answer {given}", Fraction(1 if given == truth.isoformat() else -1)
    value = 2 * (min(Fraction(repr(given)), truth) / max(Fraction(repr(given)), truth)) ** 4 - 1
    return f"2·({given:g}/{short(truth)})⁴ − 1", value


DESCRIBED = Described(
    "POLICY",
    (MISSING, TURNS, SLIPS, axis_row("branching", "conditions that the answer needs", "b_branch"), CALLS),
    _counts,
    _reward,
)
