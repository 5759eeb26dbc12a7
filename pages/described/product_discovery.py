"""The section of PD."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from describing import ASKED_FOR, CONSTRAINTS, SEARCHED, Counts, Described
from reward_sums import Sum, ndcg_sum, short

from ecom_rlve.catalog.constraints import is_satisfied
from ecom_rlve.envs.episode.episode import Episode


def _counts(played: Episode) -> Counts:
    intent = played.intent
    return {"constraints": (len(intent.goal.constraints), 1), "asked for": (intent.world.axes.k_rec, 1)}


def _reward(played: Episode, answer: dict[str, Any]) -> Sum:
    intent = played.intent
    said, value = ndcg_sum("PD", intent, answer)
    catalog, constraints = intent.world.shop.catalog, intent.goal.constraints
    first = catalog.row_of(answer["recommended_product_ids"][0])
    met = sum(is_satisfied(catalog, constraint, first) for constraint in constraints)
    alpha = 4 + intent.world.axes.d // 4
    share = Fraction(met, len(constraints)) ** alpha
    total = Fraction(55, 100) * (2 * value - 1) + Fraction(45, 100) * (2 * share - 1)
    text = f"{said}; `s₁` = {met}/{len(constraints)}; 0.55·(2·{short(value)} − 1) + 0.45·(2·{short(share)} − 1)"
    return text, total


DESCRIBED = Described("PD", (CONSTRAINTS, *SEARCHED, ASKED_FOR), _counts, _reward, difficulty=2)
