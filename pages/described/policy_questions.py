"""The section of POLICY."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from describing import CALLS, MISSING, SLIPS, TURNS, Counts, Described, axis_row
from reward_sums import Sum, short

from ecom_rlve.envs.episode.episode import Episode


def _counts(played: Episode) -> Counts:
    intent = played.intent
    return {"branching": (len(intent.goal.situation), 1)}


def _reward(played: Episode, answer: dict[str, Any]) -> Sum:
    intent = played.intent
    truth, given = intent.goal.truth, answer["value"]
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
