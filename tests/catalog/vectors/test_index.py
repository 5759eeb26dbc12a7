import os
import threading
import time
from pathlib import Path

import faiss
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecom_rlve.catalog.errors import IndexMismatchError
from ecom_rlve.catalog.vectors.index import FlatIndex, best, check_fingerprint, flat_index
from ecom_rlve.streams import stream

SMALL = arrays(np.int8, st.tuples(st.integers(1, 90), st.just(2)), elements=st.integers(-2, 2))


def flat(vectors: np.ndarray) -> FlatIndex:
    return FlatIndex(faiss.serialize_index(flat_index(vectors)), "here")


def by_definition(vectors: np.ndarray, query: np.ndarray, rows: np.ndarray, k: int) -> list[int]:
    scores = vectors.astype(np.int64) @ query.astype(np.int64)
    return sorted(rows.tolist(), key=lambda row: (-scores[row], row))[:k]


@given(SMALL, st.tuples(st.integers(-2, 2), st.integers(-2, 2)), st.integers(1, 100))
def test_ties_are_broken_by_row(vectors: np.ndarray, query: tuple[int, int], k: int) -> None:
    index = flat(vectors.astype(np.float32))
    asked = np.array(query, dtype=np.float32)
    everything = np.arange(len(vectors), dtype=np.int32)
    assert index.search(asked, k).tolist() == by_definition(vectors, asked, everything, k)
    for rows in (everything, everything[::-3], everything[:1], everything[:0]):
        assert index.search_subset(asked, rows, k).tolist() == by_definition(vectors, asked, rows, k)


def test_scores_agree_with_integer_arithmetic() -> None:
    vectors = stream(1, "vectors").integers(-127, 128, size=(3_000, 192)).astype(np.float32)
    index = flat(vectors)
    everything = np.arange(3_000, dtype=np.int32)
    for row in range(0, 3_000, 300):
        for k in (1, 5, 150):
            wanted = by_definition(vectors, vectors[row], everything, k)
            assert index.search(vectors[row], k).tolist() == wanted
            assert index.search_subset(vectors[row], everything, k).tolist() == wanted


def test_a_tie_longer_than_what_is_fetched_is_still_by_row() -> None:
    index = flat(np.ones((2_000, 4), dtype=np.float32))
    found = index.search(np.ones(4, dtype=np.float32), 7)
    assert found.tolist() == list(range(7))
    assert found.dtype == np.int32


def test_a_tie_among_many_rows_is_by_row_too() -> None:
    index = flat(np.ones((2_000, 4), dtype=np.float32))
    rows = np.arange(1, 2_000, 2, dtype=np.int32)
    assert index.search_subset(np.ones(4, dtype=np.float32), rows, 7).tolist() == list(range(1, 15, 2))


@pytest.mark.parametrize("value", [0.5, 128.0, -129.0, np.nan])
def test_only_whole_numbers_of_a_byte_are_packed(value: float) -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        flat_index(np.array([[1, value]], dtype=np.float32))


def test_extreme_elements_are_exact() -> None:
    vectors = np.array([[-128] * 192, [127] * 192, [-128, 127] * 96], dtype=np.float32)
    index = flat(vectors)
    for query in (vectors[0] + 1, vectors[1]):
        wanted = by_definition(vectors, query, np.arange(3), 3)
        assert index.search(query, 3).tolist() == wanted
        assert index.search_subset(query, np.array([2, 0, 1], dtype=np.int32), 3).tolist() == wanted


def test_best_of_nothing() -> None:
    assert best(np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.int32), 3).tolist() == []


def test_an_empty_or_foreign_index_is_refused() -> None:
    with pytest.raises(IndexMismatchError, match="no vectors"):
        flat_index(np.zeros((0, 8), dtype=np.float32))
    with pytest.raises(IndexMismatchError, match="cannot read"):
        FlatIndex(np.zeros(100, dtype=np.uint8), "here")
    index = flat(np.zeros((2, 8), dtype=np.float32))
    check_fingerprint(index, "here")
    with pytest.raises(IndexMismatchError, match="build it again"):
        check_fingerprint(index, "there")


def test_a_file_is_mapped_and_gives_the_same(tmp_path: Path) -> None:
    vectors = stream(2, "vectors").integers(-20, 21, size=(500, 12)).astype(np.int8)
    path = tmp_path / "flat.faiss"
    faiss.write_index(flat_index(vectors), os.fspath(path))
    mapped, read = FlatIndex(path, "here"), flat(vectors.astype(np.float32))
    rows = np.arange(0, 500, 7, dtype=np.int32)
    assert len(vectors) == 500
    for query in vectors[:20].astype(np.float32):
        assert mapped.search(query, 9).tolist() == read.search(query, 9).tolist()
        assert mapped.search_subset(query, rows, 9).tolist() == read.search_subset(query, rows, 9).tolist()


def test_many_queries_at_once_are_searched_like_each_alone() -> None:
    vectors = stream(3, "vectors").integers(-2, 3, size=(300, 3)).astype(np.float32)
    index = flat(vectors)
    for k in (0, 1, 40, 300, 400):
        together = index.search_many(vectors[:30], k)
        assert [found.tolist() for found in together] == [index.search(query, k).tolist() for query in vectors[:30]]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads of a process are counted in /proc")
def test_searches_start_no_threads_of_their_own() -> None:
    vectors = stream(4, "vectors").integers(-20, 21, size=(5_000, 16)).astype(np.float32)
    index = flat(vectors)
    counts: list[int] = []

    def work() -> None:
        index.search_many(vectors[:20], 10)
        index.search_subset(vectors[0], np.arange(0, 5_000, 9, dtype=np.int32), 10)
        index.search_subset(vectors[0], np.arange(0, 5_000, 2, dtype=np.int32), 10)
        counts.append(len(os.listdir("/proc/self/task")))

    index.search(vectors[0], 3)
    before = len(os.listdir("/proc/self/task"))
    for _ in range(3):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        # Python says that a thread has ended a little before the system does.
        deadline = time.monotonic() + 120
        while len(os.listdir("/proc/self/task")) > before and time.monotonic() < deadline:
            time.sleep(0.01)
    assert max(counts) <= before + 1
