"""Task rewards step by step: the formula of each environment with the numbers of an episode."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ecom_rlve.catalog.constraints import is_satisfied
from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.parts.recommendation import RecommendingEnvironment
from ecom_rlve.envs.parts.scores import discount, ndcg
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.tasks.bundle.needs import acceptable

Sum = tuple[str, Fraction]
"""The sum as text, and its value."""


def task_reward(episode: Episode, answer: dict[str, Any]) -> Sum:
    """Return r_task of a correct answer at the end of an episode."""
    env_id, intent = episode.spec.env_id, episode.intent
    match env_id:
        case "PD":
            return _discovery(intent, answer)
        case "SUB":
            said, value = _ndcg(env_id, intent, answer)
            return f"{said}; 2·{_short(value)} − 1", 2 * value - 1
        case "RETURN":
            return "0.45·r_sel + 0.45·r_ret + 0.10·r_rep = 0.45·1 + 0.45·1 + 0.10·1", Fraction(1)
        case "STATUS":
            return "2·(½·[order] + ½·[order]·[facts]) − 1 = 2·(½·1 + ½·1·1) − 1", Fraction(1)
        case "POLICY":
            return _policy(intent, answer)
        case "BUNDLE":
            return _bundle(intent, answer)
        case "JOURNEY":
            begun = episode.conversation.begun
            verdicts = [(each.intent.errand.about.id, each.verdict.r_task) for each in begun if each.verdict]
            mean = sum((value for _, value in verdicts), Fraction(0)) / len(verdicts)
            values = " + ".join(_short(value) for _, value in verdicts)
            return f"mean of {', '.join(name for name, _ in verdicts)}: ({values})/{len(verdicts)}", mean
    raise LookupError(f"the reward of {env_id} is not worked out here")


def _discovery(intent: Intent[Any], answer: dict[str, Any]) -> Sum:
    said, value = _ndcg("PD", intent, answer)
    catalog, constraints = intent.world.shop.catalog, intent.goal.constraints
    first = catalog.row_of(answer["recommended_product_ids"][0])
    met = sum(is_satisfied(catalog, constraint, first) for constraint in constraints)
    alpha = 4 + intent.world.axes.d // 4
    share = Fraction(met, len(constraints)) ** alpha
    total = Fraction(55, 100) * (2 * value - 1) + Fraction(45, 100) * (2 * share - 1)
    text = f"{said}; `s₁` = {met}/{len(constraints)}; 0.55·(2·{_short(value)} − 1) + 0.45·(2·{_short(share)} − 1)"
    return text, total


def _ndcg(env_id: str, intent: Intent[Any], answer: dict[str, Any]) -> Sum:
    judge = environments()[env_id]
    assert isinstance(judge, RecommendingEnvironment)
    gains, k = judge.gains_now(intent), intent.world.axes.k_rec
    catalog = intent.world.shop.catalog
    given = [gains.of(catalog.row_of(name)) for name in answer["recommended_product_ids"][:k]]
    best = [gains.of(row) for row in gains.best_rows(k)]
    value = ndcg(given, best)
    return f"nDCG@{len(best)} = ({_discounted(given)})/({_discounted(best)}) = {_short(value)}", value


def _discounted(gains: Sequence[Fraction]) -> str:
    return " + ".join(f"{_short(gain)}·{_short(discount(place))}" for place, gain in enumerate(gains))


def _policy(intent: Intent[Any], answer: dict[str, Any]) -> Sum:
    truth, given = intent.goal.truth, answer["value"]
    if isinstance(given, str):
        return f"the date is {truth.isoformat()}, the answer {given}", Fraction(1 if given == truth.isoformat() else -1)
    value = 2 * (min(Fraction(repr(given)), truth) / max(Fraction(repr(given)), truth)) ** 4 - 1
    return f"2·({given:g}/{_short(truth)})⁴ − 1", value


def _bundle(intent: Intent[Any], answer: dict[str, Any]) -> Sum:
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
        f"F1 = 2·{met}/({wanted}+{len(ids)}) = {_short(f1)}; {spent} = {cost / 100:.2f} of {goal.budget / 100:.2f}, so "
        f"pen = {_short(penalty)}; 2·{_short(f1)} − 1 − {_short(penalty)}"
    )
    return text, max(Fraction(-1), 2 * f1 - 1 - penalty)


def _short(value: Fraction) -> str:
    return f"{float(value):.4g}"
