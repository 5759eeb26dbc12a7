"""Sets of rows in bits: membership and ranks as in a list of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.columns.row_set import RowSet
from ecom_rlve.streams import stream


@given(st.lists(st.booleans(), max_size=1500))
def test_ranks_and_members(chosen: list[bool]) -> None:
    rows = RowSet(np.array(chosen, dtype=np.bool_))
    expected = [row for row, is_in in enumerate(chosen) if is_in]
    assert len(rows) == len(expected)
    assert [rows.row(rank) for rank in range(len(rows))] == expected
    assert rows.has(np.arange(len(chosen))).tolist() == chosen


@pytest.mark.parametrize("rank", [-1, 2])
def test_a_rank_beyond_the_set_is_refused(rank: int) -> None:
    with pytest.raises(IndexError, match="of 2 rows"):
        RowSet(np.array([True, False, True])).row(rank)


def test_it_takes_an_eighth_of_a_byte_a_row() -> None:
    is_in = stream(1, "rows").random(1_000_000) < 0.3
    rows = RowSet(is_in)
    assert rows.nbytes < len(is_in) / 8 * 1.2
    assert rows.row(len(rows) - 1) == int(np.flatnonzero(is_in)[-1])
