"""What a customer remembers: enough to single a thing out, nothing that could be spared, and as much as can be."""

from __future__ import annotations

from datetime import date
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.envs.language.acts import Fact
from ecom_rlve.envs.parts.remembered import Clue, singled_out, spelled_day, spelled_money

CANDIDATES = range(5)


def clue(true_for: set[int]) -> Clue[int]:
    return Clue(Fact("word", Constraint("word", Op.EQ, str(sorted(true_for)))), true_for.__contains__)


def left(clues: list[set[int]]) -> set[int]:
    return set(CANDIDATES).intersection(*clues)


@pytest.mark.parametrize(
    ("clues", "kept"),
    [
        ([{0}], [{0}]),
        ([{0, 1}, {0, 2}], [{0, 1}, {0, 2}]),
        # One alone would do, but two that need each other say more.
        ([{0}, {0, 1}, {0, 2}], [{0, 1}, {0, 2}]),
        ([{0, 1}, {0, 2}, {0, 1}], [{0, 1}, {0, 2}]),
        ([{0, 1, 2}, {0, 1, 3}, {0, 2, 3}], [{0, 1, 2}, {0, 1, 3}, {0, 2, 3}]),
        # What is true of all tells nothing, and two that no clue tells apart stay two.
        ([set(CANDIDATES)], []),
        ([{0, 1}, set(CANDIDATES)], [{0, 1}]),
        ([{1, 2, 3, 4}], [{1, 2, 3, 4}]),
        ([{0, 1, 2, 3}], [{0, 1, 2, 3}]),
        ([], []),
    ],
)
def test_a_largest_set_none_of_which_can_be_spared(clues: list[set[int]], kept: list[set[int]]) -> None:
    made = [clue(each) for each in clues]
    chosen = singled_out(made, CANDIDATES)
    assert [clues[made.index(each)] for each in chosen] == kept


@given(st.lists(st.sets(st.sampled_from(range(1, 5))).map(lambda others: others | {0}), max_size=5))
def test_it_is_what_trying_every_set_finds(clues: list[set[int]]) -> None:
    chosen = [each.fact.constraint.value for each in singled_out([clue(each) for each in clues], CANDIDATES)]
    sets = [list(some) for size in range(len(clues) + 1) for some in combinations(clues, size)]
    enough = [some for some in sets if left(some) == left(clues)]
    tight = [some for some in enough if all(left(some[:at] + some[at + 1 :]) != left(some) for at in range(len(some)))]
    assert len(chosen) == max(map(len, tight))
    assert chosen in [[str(sorted(each)) for each in some] for some in tight]


def test_spellings() -> None:
    assert (spelled_day(date(2025, 1, 31)), spelled_day(date(2025, 12, 1))) == ("31 January", "1 December")
    assert (spelled_money(2499), spelled_money(5), spelled_money(100)) == ("$24.99", "$0.05", "$1.00")
