"""Task rewards worked out in words: a formula with an episode's numbers in it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.parts.recommendation import RecommendingEnvironment
from ecom_rlve.envs.parts.scores import discount, ndcg
from ecom_rlve.envs.registry import environments

Sum = tuple[str, Fraction]
"""The sum as text, and its value."""


def ndcg_sum(env_id: str, intent: Intent[Any], answer: dict[str, Any]) -> Sum:
    """Return the nDCG of a recommendation."""
    judge = environments()[env_id]
    assert isinstance(judge, RecommendingEnvironment)
    gains, k = judge.gains_now(intent), intent.world.axes.k_rec
    catalog = intent.world.shop.catalog
    given = [gains.of(catalog.row_of(name)) for name in answer["recommended_product_ids"][:k]]
    best = [gains.of(row) for row in gains.best_rows(k)]
    value = ndcg(given, best)
    return f"nDCG@{len(best)} = ({_discounted(given)})/({_discounted(best)}) = {short(value)}", value


def _discounted(gains: Sequence[Fraction]) -> str:
    return " + ".join(f"{short(gain)}·{short(discount(place))}" for place, gain in enumerate(gains))


def short(value: Fraction) -> str:
    """Return a number with four digits at most."""
    return f"{float(value):.4g}"
