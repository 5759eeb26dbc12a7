import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecom_rlve.catalog.errors import IndexMismatchError
from ecom_rlve.catalog.index import FlatIndex, best, check_fingerprint
from ecom_rlve.streams import stream

SMALL = arrays(np.int8, st.tuples(st.integers(1, 90), st.just(2)), elements=st.integers(-2, 2))


def by_definition(vectors: np.ndarray, query: np.ndarray, rows: np.ndarray, k: int) -> list[int]:
    scores = vectors.astype(np.int64) @ query.astype(np.int64)
    return sorted(rows.tolist(), key=lambda row: (-scores[row], row))[:k]


@given(SMALL, st.tuples(st.integers(-2, 2), st.integers(-2, 2)), st.integers(1, 100))
def test_ties_are_broken_by_row(vectors: np.ndarray, query: tuple[int, int], k: int) -> None:
    index = FlatIndex(vectors.astype(np.float32), "here")
    asked = np.array(query, dtype=np.float32)
    everything = np.arange(len(vectors), dtype=np.int32)
    assert index.search(asked, k).tolist() == by_definition(vectors, asked, everything, k)
    for rows in (everything, everything[::-3], everything[:1], everything[:0]):
        assert index.search_subset(asked, rows, k).tolist() == by_definition(vectors, asked, rows, k)


def test_scores_agree_with_integer_arithmetic() -> None:
    vectors = stream(1, "vectors").integers(-127, 128, size=(3_000, 192)).astype(np.float32)
    index = FlatIndex(vectors, "here")
    everything = np.arange(3_000, dtype=np.int32)
    for row in range(0, 3_000, 300):
        for k in (1, 5, 150):
            wanted = by_definition(vectors, vectors[row], everything, k)
            assert index.search(vectors[row], k).tolist() == wanted
            assert index.search_subset(vectors[row], everything, k).tolist() == wanted


def test_a_tie_longer_than_what_is_fetched_is_still_by_row() -> None:
    index = FlatIndex(np.ones((2_000, 4), dtype=np.float32), "here")
    found = index.search(np.ones(4, dtype=np.float32), 7)
    assert found.tolist() == list(range(7))
    assert found.dtype == np.int32


def test_best_of_nothing() -> None:
    assert best(np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.int32), 3).tolist() == []


def test_an_empty_or_foreign_index_is_refused() -> None:
    with pytest.raises(IndexMismatchError, match="no vectors"):
        FlatIndex(np.zeros((0, 8), dtype=np.float32), "here")
    index = FlatIndex(np.zeros((2, 8), dtype=np.float32), "here")
    check_fingerprint(index, "here")
    with pytest.raises(IndexMismatchError, match="build it again"):
        check_fingerprint(index, "there")
