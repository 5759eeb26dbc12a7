"""The section of SUB."""

from __future__ import annotations

from typing import Any

from describing import ASKED_FOR, CONSTRAINTS, SEARCHED, Counts, Described
from reward_sums import Sum, ndcg_sum, short

from ecom_rlve.envs.episode.episode import Episode


def _counts(played: Episode) -> Counts:
    intent = played.intent
    goal = intent.goal
    return {"constraints": (len(goal.required) + len(goal.wished), 1), "asked for": (intent.world.axes.k_rec, 1)}


def _reward(played: Episode, answer: dict[str, Any]) -> Sum:
    intent = played.intent
    said, value = ndcg_sum("SUB", intent, answer)
    return f"{said}; 2·{short(value)} − 1", 2 * value - 1


DESCRIBED = Described("SUB", (CONSTRAINTS, *SEARCHED, ASKED_FOR), _counts, _reward)
