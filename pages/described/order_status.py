"""The section of STATUS."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from describing import CALLS, MISSING, ORDERS, SLIPS, TURNS, Counts, Described, Row
from reward_sums import Sum

from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.tasks.order_status.goal import indirect_probability


def _counts(played: Episode) -> Counts:
    intent = played.intent
    return {
        "indirect": (intent.goal.reference.form == "indirect", 1),
        "arrived": (intent.goal.order.delivered is not None, 1),
    }


def _reward(_played: Episode, _answer: dict[str, Any]) -> Sum:
    return "2·(¼·[order] + ¾·[order]·[facts]) − 1 = 2·(¼·1 + ¾·1·1) − 1", Fraction(1)


DESCRIBED = Described(
    "STATUS",
    (
        MISSING,
        TURNS,
        SLIPS,
        ORDERS,
        CALLS,
        Row("indirect", "indirect references", "σ((d−2)/1.5)", lambda a: indirect_probability(a.d)),
        Row("arrived", "orders meant that have arrived", "½", lambda _: 0.5),
    ),
    _counts,
    _reward,
)
