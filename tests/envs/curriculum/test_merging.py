"""Merging curricula: the same in any order and however often, and nothing is counted twice."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.curriculum.merging import merged
from ecom_rlve.run_models import ExportedFrontier, ExportedSeed

SHARES = st.sampled_from(["1", "0", "1/2", "left"])
SEEDS = st.builds(
    ExportedSeed,
    seed=st.integers(0, 6),
    is_grouped=st.booleans(),
    episodes=st.dictionaries(st.sampled_from("abcd"), SHARES, max_size=4),
)
FRONTIERS = st.builds(
    ExportedFrontier,
    env_id=st.sampled_from(["CART", "PD"]),
    style=st.just("turn"),
    format=st.just("strict"),
    level=st.integers(0, 1),
    passes=st.integers(0, 2),
    seeds=st.lists(SEEDS, max_size=4, unique_by=lambda each: each.seed),
    judged=st.lists(st.integers(0, 6), max_size=3, unique=True),
)


def frontier(**fields: Any) -> ExportedFrontier:
    given_fields: dict[str, Any] = {"level": 3, "passes": 0, "seeds": [], "judged": [], **fields}
    return ExportedFrontier(env_id="CART", style="turn", format="strict", **given_fields)


def seed(number: int, **episodes: str) -> ExportedSeed:
    return ExportedSeed.model_validate({"seed": number, "is_grouped": True, "episodes": episodes})


@given(st.lists(FRONTIERS, min_size=1, max_size=3))
def test_order_and_repetition_change_nothing(frontiers: list[ExportedFrontier]) -> None:
    once = merged(frontiers)
    assert all(merged(order) == once for order in permutations(frontiers))
    assert merged([*once, *frontiers]) == once
    assert merged([*merged(frontiers[:1]), *merged(frontiers[1:])]) == once


@given(st.lists(FRONTIERS, min_size=1, max_size=4))
def test_no_episode_is_lost_or_counted_twice(frontiers: list[ExportedFrontier]) -> None:
    found = merged(frontiers)
    assert [each.env_id for each in found] == sorted({each.env_id for each in frontiers})
    for each in found:
        of_key = [other for other in frontiers if other.env_id == each.env_id]
        assert each.level == max(other.level for other in of_key)
        level = [other for other in of_key if other.level == each.level]
        assert each.judged == sorted({number for other in level for number in other.judged})
        known = {(one.seed, name) for other in level for one in other.seeds for name in one.episodes}
        expected = sorted(pair for pair in known if pair[0] not in each.judged)
        assert sorted((one.seed, name) for one in each.seeds for name in one.episodes) == expected


def test_the_highest_level_wins_and_forgets_what_was_counted_below() -> None:
    low, high = frontier(level=2, seeds=[seed(1, a="1")], passes=1, judged=[4]), frontier(level=3, seeds=[seed(2)])
    assert merged([low, high]) == [high]


def test_at_equal_levels_seeds_come_together() -> None:
    one = frontier(seeds=[seed(1, a="1", b="0"), seed(2, c="left"), seed(5, d="1")], judged=[9], passes=1)
    other = frontier(seeds=[seed(1, b="1", e="1/2"), seed(2, c="1")], judged=[5], passes=0)
    both = frontier(seeds=[seed(1, a="1", b="0", e="1/2"), seed(2, c="1")], judged=[5, 9], passes=0)
    assert merged([one, other]) == [both]


def test_a_server_that_judged_no_gate_does_not_undo_a_pass() -> None:
    passed, fresh = frontier(judged=[1], passes=1), frontier(seeds=[seed(2, a="1")])
    assert merged([passed, fresh])[0].passes == 1
