import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecom_rlve.catalog.errors import IndexMismatchError
from ecom_rlve.catalog.index import FlatIndex, best, check_fingerprint, packed
from ecom_rlve.streams import stream

SMALL = arrays(np.int8, st.tuples(st.integers(1, 90), st.just(2)), elements=st.integers(-2, 2))


def by_definition(vectors: np.ndarray, query: np.ndarray, rows: np.ndarray, k: int) -> list[int]:
    scores = vectors.astype(np.int64) @ query.astype(np.int64)
    return sorted(rows.tolist(), key=lambda row: (-scores[row], row))[:k]


@given(SMALL, st.tuples(st.integers(-2, 2), st.integers(-2, 2)), st.integers(1, 100))
def test_ties_are_broken_by_row(vectors: np.ndarray, query: tuple[int, int], k: int) -> None:
    index = FlatIndex(packed(vectors.astype(np.float32)), "here")
    asked = np.array(query, dtype=np.float32)
    everything = np.arange(len(vectors), dtype=np.int32)
    assert index.search(asked, k).tolist() == by_definition(vectors, asked, everything, k)
    for rows in (everything, everything[::-3], everything[:1], everything[:0]):
        assert index.search_subset(asked, rows, k).tolist() == by_definition(vectors, asked, rows, k)


def test_scores_agree_with_integer_arithmetic() -> None:
    vectors = stream(1, "vectors").integers(-127, 128, size=(3_000, 192)).astype(np.float32)
    index = FlatIndex(packed(vectors), "here")
    everything = np.arange(3_000, dtype=np.int32)
    for row in range(0, 3_000, 300):
        for k in (1, 5, 150):
            wanted = by_definition(vectors, vectors[row], everything, k)
            assert index.search(vectors[row], k).tolist() == wanted
            assert index.search_subset(vectors[row], everything, k).tolist() == wanted


def test_a_tie_longer_than_what_is_fetched_is_still_by_row() -> None:
    index = FlatIndex(packed(np.ones((2_000, 4), dtype=np.float32)), "here")
    found = index.search(np.ones(4, dtype=np.float32), 7)
    assert found.tolist() == list(range(7))
    assert found.dtype == np.int32


def test_a_tie_among_many_rows_is_by_row_too() -> None:
    index = FlatIndex(packed(np.ones((2_000, 4), dtype=np.float32)), "here")
    rows = np.arange(1, 2_000, 2, dtype=np.int32)
    assert index.search_subset(np.ones(4, dtype=np.float32), rows, 7).tolist() == list(range(1, 15, 2))


@pytest.mark.parametrize("value", [0.5, 128.0, -129.0, np.nan])
def test_only_whole_numbers_of_a_byte_are_packed(value: float) -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        packed(np.array([[1, value]], dtype=np.float32))


def test_extreme_elements_are_exact() -> None:
    vectors = np.array([[-128] * 192, [127] * 192, [-128, 127] * 96], dtype=np.float32)
    index = FlatIndex(packed(vectors), "here")
    for query in (vectors[0] + 1, vectors[1]):
        wanted = by_definition(vectors, query, np.arange(3), 3)
        assert index.search(query, 3).tolist() == wanted
        assert index.search_subset(query, np.array([2, 0, 1], dtype=np.int32), 3).tolist() == wanted


def test_best_of_nothing() -> None:
    assert best(np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.int32), 3).tolist() == []


def test_an_empty_or_foreign_index_is_refused() -> None:
    with pytest.raises(IndexMismatchError, match="no vectors"):
        packed(np.zeros((0, 8), dtype=np.float32))
    with pytest.raises(IndexMismatchError, match="cannot read"):
        FlatIndex(np.zeros(100, dtype=np.uint8), "here")
    index = FlatIndex(packed(np.zeros((2, 8), dtype=np.float32)), "here")
    check_fingerprint(index, "here")
    with pytest.raises(IndexMismatchError, match="build it again"):
        check_fingerprint(index, "there")
