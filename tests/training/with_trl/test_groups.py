"""Which groups are kept: those that hold correct and wrong rollouts, whatever their rewards are."""

from __future__ import annotations

import pytest
import torch

from ecom_rlve.training.groups import mixed, share_of_mixed_groups

LOST = torch.nan


@pytest.mark.parametrize(
    ("correct", "kept"),
    [
        ([1, 1, 1, 1], [False] * 4),
        ([0, 0, 0, 0], [False] * 4),
        ([1, 0, 0, 0], [True] * 4),
        ([1, 1, 1, 0], [True] * 4),
        ([1, 0, LOST, LOST], [True, True, False, False]),
        ([1, 1, 1, LOST], [False] * 4),
        ([0, LOST, 0, LOST], [False] * 4),
        ([LOST] * 4, [False] * 4),
    ],
)
def test_a_group_is_kept_if_it_is_mixed(correct: list[float], kept: list[bool]) -> None:
    assert mixed(torch.tensor([float(each) for each in correct]), 4).tolist() == kept


def test_groups_are_told_apart() -> None:
    kept = mixed(torch.tensor([1.0, 1.0, 0.0, 1.0, 0.0, 0.0]), 2)
    assert kept.tolist() == [False, False, True, True, False, False]
    assert share_of_mixed_groups(kept, 2) == pytest.approx(1 / 3)
