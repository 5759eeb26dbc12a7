"""The section of RETURN."""

from __future__ import annotations

from fractions import Fraction
from math import nan
from typing import Any

from describing import CALLS, DEPTH, MISSING, ORDERS, REPLACED, SLIPS, TURNS, Counts, Described, Row, axis_row
from reward_sums import Sum

from ecom_rlve.envs.difficulty import AXES
from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.policy.topics import ONLINE_RETURN
from ecom_rlve.envs.tasks.returns.goal import replacement_probability
from ecom_rlve.envs.world.eligibility import eligibility
from ecom_rlve.envs.world.orders import edge_probability

_EDGE = (-2, -1, 1, 2)


def _counts(played: Episode) -> Counts:
    intent = played.intent
    world, new = intent.world, intent.goal.replacement
    ends = [
        [last for line in order.lines if (last := eligibility(world, order, line).last_day) is not None]
        for order in world.orders
        if order.delivered is not None
    ]
    return {
        "constraints": (0, 0) if new is None else (len(new.constraints), 1),
        "new": (new is not None, 1),
        "branching": (len(world.book.rule(ONLINE_RETURN).adjustments), 1),
        "edge": (sum(any((last - world.today).days in _EDGE for last in lasts) for lasts in ends), len(ends)),
        "eligible": (intent.goal.is_eligible, 1),
    }


def _reward(_played: Episode, _answer: dict[str, Any]) -> Sum:
    return "0.45·r_sel + 0.45·r_ret + 0.10·r_rep = 0.45·1 + 0.45·1 + 0.10·1", Fraction(1)


DESCRIBED = Described(
    "RETURN",
    (
        axis_row("constraints", "wishes for a new one, where one is wanted", "m"),
        MISSING,
        REPLACED,
        TURNS,
        SLIPS,
        DEPTH,
        ORDERS,
        Row(
            "branching",
            f"{AXES['b_branch'].number} conditions of the return window",
            f"{AXES['b_branch'].formula}, at most 2",
            lambda a: min(2, a.b_branch),
        ),
        CALLS,
        Row("new", "episodes in which a new one is wanted", "min(0.5, 0.1·d)", lambda a: replacement_probability(a.d)),
        Row(
            "edge",
            "delivered orders near the end of a line's return window",
            "0.7·σ((d−4)/1.5), less final sale",
            lambda a: edge_probability(a.d),
        ),
        Row("eligible", "target lines that can be returned", "3/5 to 3/4", lambda _: nan),
    ),
    _counts,
    _reward,
    shows=lambda goal: goal["eligible"],
)
