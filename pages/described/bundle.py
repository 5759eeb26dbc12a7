"""The section of BUNDLE."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from describing import SEARCHED, Counts, Described, Row
from reward_sums import Sum, short

from ecom_rlve.envs.difficulty import AXES
from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.tasks.bundle.goal import needs_at
from ecom_rlve.envs.tasks.bundle.needs import acceptable, wishes_at


def _counts(played: Episode) -> Counts:
    intent = played.intent
    needs = intent.goal.needs
    return {"needs": (len(needs), 1), "wishes": (sum(len(need.wishes) for need in needs), len(needs))}


def _reward(played: Episode, answer: dict[str, Any]) -> Sum:
    intent = played.intent
    goal, world = intent.goal, intent.world
    catalog, ids = world.shop.catalog, answer["recommended_product_ids"]
    rows = [catalog.row_of(name) for name in ids]
    met = sum(bool(set(acceptable(world, need).tolist()) & set(rows)) for need in goal.needs)
    prices = [int(catalog.column("price").values[row]) for row in rows]
    cost, wanted = sum(prices), len(goal.needs)
    spent = " + ".join(f"{price / 100:.2f}" for price in prices)
    penalty = max(Fraction(0), min(Fraction(1), Fraction(cost - goal.budget, goal.budget)))
    f1 = Fraction(2 * met, wanted + len(ids))
    text = (
        f"F1 = 2·{met}/({wanted}+{len(ids)}) = {short(f1)}; {spent} = {cost / 100:.2f} of {goal.budget / 100:.2f}, so "
        f"pen = {short(penalty)}; 2·{short(f1)} − 1 − {short(penalty)}"
    )
    return text, max(Fraction(-1), 2 * f1 - 1 - penalty)


DESCRIBED = Described(
    "BUNDLE",
    (
        Row(
            "wishes",
            f"{AXES['m'].number} wishes per thing",
            "2 + ⌊(m−2)/4⌋, m = 2+⌊d/2⌋",
            lambda a: wishes_at(a.m),
        ),
        *SEARCHED,
        Row("needs", "things", "min(6, 2+⌊d/3⌋)", lambda a: needs_at(a.d)),
    ),
    _counts,
    _reward,
)
