"""The small policy learns: a little in the fast suite, more in the slow one."""

from __future__ import annotations

import numpy as np
import pytest

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.training.learning.arena import InProcess
from ecom_rlve.training.learning.runs import NOTES, Plan, judge, train

JUDGED = 40


@pytest.mark.parametrize("env_id", NOTES)
def test_random_skills_score_low(shop: Shop, env_id: str) -> None:
    """Skills are choices: whoever draws them blindly is seldom right."""
    assert judge(shop, env_id, 0, None, JUDGED).success <= 0.25


@pytest.mark.slow
def test_status_rises(shop: Shop) -> None:
    before = judge(shop, "STATUS", 0, None, JUDGED).success
    trained = train(InProcess(shop, 1), Plan(("STATUS",), 640, 1))
    assert len(trained.progress.frontier) == 640 / 8
    assert judge(shop, "STATUS", 0, trained.weights, JUDGED).success >= before + 0.2


def test_runs_are_reproducible(shop: Shop) -> None:
    plan = Plan(("STATUS",), 128, 3)
    first, second = (train(InProcess(shop, 3), plan) for _ in range(2))
    assert np.array_equal(first.weights, second.weights)
    assert first.progress == second.progress


@pytest.mark.slow
def test_status_is_learnt(shop: Shop) -> None:
    trained = train(InProcess(shop, 1), Plan(("STATUS",), 3200, 1))
    assert judge(shop, "STATUS", 0, trained.weights, 100).success >= 0.9
    assert trained.progress.frontier[-1] >= 1


@pytest.mark.slow
def test_shuffled_rewards_teach_nothing(shop: Shop) -> None:
    trained = train(InProcess(shop, 1), Plan(("STATUS",), 1280, 1, reward="shuffled"))
    assert judge(shop, "STATUS", 0, trained.weights, 100).success <= 0.3
