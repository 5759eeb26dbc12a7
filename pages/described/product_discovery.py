"""The section of PD."""

from __future__ import annotations

from fractions import Fraction
from math import nan
from typing import Any

from describing import ASKED_FOR, CHANGES, CONSTRAINTS, SEARCHED, Counts, Described, Row
from reward_sums import Sum, ndcg_sum, short

from ecom_rlve.catalog.constraints import Op, is_satisfied
from ecom_rlve.envs.episode.episode import Episode


def _counts(played: Episode) -> Counts:
    intent = played.intent
    constraints = intent.goal.constraints
    forms = [sum(each.op is op for each in constraints) for op in (Op.BETWEEN, Op.NONE_OF)]
    return {
        "constraints": (len(constraints), 1),
        "asked for": (intent.world.axes.k_rec, 1),
        "changed": (intent.revision is not None, 1),
        "ranges": (forms[0], len(constraints)),
        "exclusions": (forms[1], len(constraints)),
    }


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


DESCRIBED = Described(
    "PD",
    (
        CONSTRAINTS,
        *SEARCHED,
        CHANGES,
        ASKED_FOR,
        Row("ranges", "wishes that are ranges", "", lambda _: nan),
        Row("exclusions", "wishes that are exclusions", "", lambda _: nan),
    ),
    _counts,
    _reward,
    difficulty=2,
)
