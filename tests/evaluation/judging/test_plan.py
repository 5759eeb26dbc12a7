"""What a run plays follows from its plan, and the frozen suites stay as they are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.registry import environments
from ecom_rlve.evaluation.judging.errors import JudgingError
from ecom_rlve.evaluation.judging.plan import Plan, difficulties_of, seeds_of, tasks_of
from ecom_rlve.evaluation.judging.suite import SUITES, with_suite

MakePlan = Callable[..., Plan]


@pytest.mark.parametrize(
    ("text", "meant"),
    [("0", (0,)), ("0-3", (0, 1, 2, 3)), ("6,0,3,3", (0, 3, 6)), ("0-2, 1-4,20", (0, 1, 2, 3, 4, 20))],
)
def test_difficulties_are_read(text: str, meant: tuple[int, ...]) -> None:
    assert difficulties_of(text) == meant


@pytest.mark.parametrize("text", ["", "x", "21", "-1", "3-1", "0-", "0,,1", "1.5", "٣", "0-3-6"])
def test_what_names_no_difficulties_is_refused(text: str) -> None:
    with pytest.raises(JudgingError, match="no difficulties"):
        difficulties_of(text)


@given(st.lists(st.integers(0, 20), min_size=1).map(lambda ds: (",".join(map(str, ds)), tuple(sorted(set(ds))))))
def test_lists_mean_what_they_hold(drawn: tuple[str, tuple[int, ...]]) -> None:
    text, meant = drawn
    assert difficulties_of(text) == meant


def test_a_plan_has_every_episode_once_and_first_trials_first(plan_of: MakePlan) -> None:
    plan = plan_of(envs=("PD", "CART"), difficulties=(0, 5), episodes=3, trials=2)
    tasks = list(tasks_of(plan))
    assert len(tasks) == len(set(tasks)) == plan.size == 24
    assert [task.trial for task in tasks] == [0] * 12 + [1] * 12
    assert {task.episode for task in tasks[:12]} == {task.episode for task in tasks[12:]}


def test_more_episodes_begin_with_the_same_ones_and_cells_are_independent(plan_of: MakePlan) -> None:
    few, many = plan_of(episodes=3), plan_of(episodes=40, envs=("CART",), difficulties=(2, 9))
    assert seeds_of(many, "CART", 2)[:3] == seeds_of(few, "CART", 2)
    assert len(set(seeds_of(many, "CART", 2))) == 40
    others = [
        seeds_of(few, "CART", 0),
        seeds_of(few, "STATUS", 2),
        seeds_of(plan_of(episodes=3, seed=1), "CART", 2),
        seeds_of(plan_of(episodes=3, split="test"), "CART", 2),
    ]
    assert seeds_of(few, "CART", 2) not in others


@pytest.mark.parametrize(
    ("name", "code", "size"), [("small", "1967d0d6fd8b9f42", 160), ("standard", "2fef0c18e41f5da4", 3200)]
)
def test_suites_are_frozen(plan_of: MakePlan, name: str, code: str, size: int) -> None:
    """A change of these makes results incomparable: it belongs into the changelog, and the board is emptied."""
    plan = with_suite(plan_of(split="test", seed=7, episodes=1), name)
    assert (plan.suite_hash, plan.size, set(plan.envs)) == (code, size, set(environments()))
    assert plan == with_suite(plan_of(split="test", trials=9), name)


def test_a_suite_is_played_as_it_is_meant_or_not_at_all(plan_of: MakePlan) -> None:
    with pytest.raises(JudgingError, match="no suite 'big'; there are small, standard"):
        with_suite(plan_of(split="test"), "big")
    with pytest.raises(JudgingError, match="--split test, not eval"):
        with_suite(plan_of(), "small")
    assert set(SUITES) == {"small", "standard"}
