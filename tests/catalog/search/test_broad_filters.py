"""What broad filters pass is found once for several searches, and is the same every time."""

from __future__ import annotations

import numpy as np

from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.catalog.search.broad_filters import BroadFilters
from ecom_rlve.catalog.vectors.inverted_index import EXACT_ROWS


def filters(days: int) -> tuple[Constraint, ...]:
    return (Constraint("ship_days", Op.AT_MOST, days),)


def test_many_rows_are_kept_and_cannot_be_changed() -> None:
    made = []

    def make() -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        made.append(1)
        return np.arange(EXACT_ROWS + 1, dtype=np.int32)

    held = BroadFilters()
    first = held.get(filters(3), make)
    assert held.get(filters(3), make) is first
    assert len(made) == 1
    assert first is not None
    assert not first.flags.writeable


def test_few_rows_and_no_filter_are_not_kept() -> None:
    held = BroadFilters()
    few = held.get(filters(1), lambda: np.arange(5, dtype=np.int32))
    assert held.get(filters(1), lambda: np.arange(5, dtype=np.int32)) is not few
    assert held.get((), lambda: None) is None


def test_only_the_last_few_are_kept() -> None:
    held = BroadFilters()
    for days in range(1, 11):
        held.get(filters(days), lambda: np.arange(EXACT_ROWS + 1, dtype=np.int32))
    assert len(held._held) == 4
    assert filters(10) in held._held
