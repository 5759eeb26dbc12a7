"""The inverted file: exact where few rows pass, never fewer rows than there are, and near exact otherwise."""

from __future__ import annotations

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecom_rlve.catalog.errors import IndexMismatchError
from ecom_rlve.catalog.vectors import inverted_index
from ecom_rlve.catalog.vectors.clustering import centroids_of, nearest
from ecom_rlve.catalog.vectors.index import FlatIndex, flat_index
from ecom_rlve.catalog.vectors.inverted_index import InvertedIndex, clustered, inverted_lists, list_count
from ecom_rlve.catalog.vectors.recall import probes_for, recall_of
from ecom_rlve.catalog.vectors.scaling import scaled
from ecom_rlve.streams import stream

SIZE, DIMENSIONS = 20_000, 24


def indexes(vectors: np.ndarray, probes: int) -> tuple[InvertedIndex, FlatIndex]:
    flat = FlatIndex(faiss.serialize_index(flat_index(vectors)), "here")
    centroids, list_of_row = clustered(vectors, 1)
    lists = faiss.serialize_index(inverted_lists(vectors, len(centroids), list_of_row))
    return InvertedIndex(lists, flat, centroids, list_of_row, probes), flat


def shelf(size: int) -> np.ndarray:
    """Vectors in uneven clumps, some of them equal."""
    rng = stream(0, "clumps")
    middles = rng.integers(-60, 61, size=(60, DIMENSIONS))
    near = middles[rng.zipf(1.5, size) % 60] + rng.integers(-12, 13, size=(size, DIMENSIONS))
    vectors = scaled(near.astype(np.int64)).astype(np.int8)
    vectors[::5] = vectors[1::5][: len(vectors[::5])]
    return vectors


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    return shelf(SIZE)


@pytest.fixture(scope="module")
def both(vectors: np.ndarray) -> tuple[InvertedIndex, FlatIndex]:
    return indexes(vectors, 40)


@pytest.fixture
def broad(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take filters for broad that would be answered exactly at this size."""
    monkeypatch.setattr(inverted_index, "EXACT_ROWS", 500)
    monkeypatch.setattr(inverted_index, "_ENOUGH", 600)


def queries() -> np.ndarray:
    rng = stream(1, "queries")
    return scaled(shelf(2_000)[rng.integers(2_000, size=60)].astype(np.int64) + rng.integers(-15, 16, (60, DIMENSIONS)))


def test_it_finds_nearly_all_that_exact_search_finds(both: tuple[InvertedIndex, FlatIndex]) -> None:
    inverted, flat = both
    asked = queries()
    assert recall_of(inverted.search_many(asked, 20), flat.search_many(asked, 20)) >= 0.95


@pytest.mark.usefixtures("broad")
@pytest.mark.parametrize("share", [2, 3, 10, 30])
def test_broad_filters_find_nearly_all_and_only_rows_that_pass(
    both: tuple[InvertedIndex, FlatIndex], share: int
) -> None:
    inverted, flat = both
    rows = np.arange(1, SIZE, share, dtype=np.int32)
    asked = queries()
    found = [inverted.search_subset(query, rows, 20) for query in asked]
    assert np.isin(np.concatenate(found), rows).all()
    assert recall_of(found, [flat.search_subset(query, rows, 20) for query in asked]) >= 0.95


@pytest.mark.usefixtures("broad")
def test_a_filter_that_keeps_only_what_is_far_from_the_query_is_full(
    both: tuple[InvertedIndex, FlatIndex], vectors: np.ndarray
) -> None:
    inverted, _ = both
    asked = queries()[:10]
    assert len(asked) == 10
    for query in asked:
        rows = np.sort(np.argsort(vectors.astype(np.float32) @ query)[: SIZE // 8]).astype(np.int32)
        found = inverted.search_subset(query, rows, 50)
        assert len(found) == 50
        assert np.isin(found, rows).all()


def test_selective_filters_are_exact(both: tuple[InvertedIndex, FlatIndex]) -> None:
    inverted, flat = both
    asked = queries()
    assert len(asked) == 60
    for number, query in enumerate(asked):
        rows = np.arange(number, SIZE, 40 + number, dtype=np.int32)
        for k in (1, 7, 1_000):
            assert inverted.search_subset(query, rows, k).tolist() == flat.search_subset(query, rows, k).tolist()


@pytest.mark.usefixtures("broad")
def test_fewer_results_are_the_first_of_more_and_all_is_all(both: tuple[InvertedIndex, FlatIndex]) -> None:
    inverted, _ = both
    rows = np.arange(3, SIZE, 4, dtype=np.int32)
    asked = queries()[:5]
    assert len(asked) == 5
    for query in asked:
        everything, passing = inverted.search(query, SIZE), inverted.search_subset(query, rows, SIZE)
        assert sorted(everything.tolist()) == list(range(SIZE))
        assert sorted(passing.tolist()) == rows.tolist()
        for k in (0, 1, 20, 255, 256, 257, 3_000):
            assert inverted.search(query, k).tolist() == everything[:k].tolist()
            assert inverted.search_subset(query, rows, k).tolist() == passing[:k].tolist()


def test_many_queries_at_once_are_searched_like_each_alone(both: tuple[InvertedIndex, FlatIndex]) -> None:
    inverted, _ = both
    asked = queries()
    together = inverted.search_many(asked, 30)
    assert [found.tolist() for found in together] == [inverted.search(query, 30).tolist() for query in asked]


@settings(max_examples=settings().max_examples // 2)
@given(
    arrays(np.int8, st.tuples(st.integers(1, 700), st.just(2)), elements=st.integers(-2, 2)),
    st.tuples(st.integers(-2, 2), st.integers(-2, 2)),
    st.integers(1, 30),
)
def test_with_all_lists_it_is_exact_and_breaks_ties_by_row(vectors: np.ndarray, query: tuple[int, int], k: int) -> None:
    inverted, flat = indexes(vectors, len(vectors))
    asked = np.array(query, dtype=np.float32)
    assert inverted.search(asked, k).tolist() == flat.search(asked, k).tolist()


def test_centroids_do_not_depend_on_threads(vectors: np.ndarray) -> None:
    one, two = (centroids_of(vectors, 64, threads) for threads in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(nearest(vectors, one, 1), nearest(vectors, one, 2))
    scores = vectors.astype(np.int64) @ one.astype(np.int64).T
    np.testing.assert_array_equal(nearest(vectors, one, 2), scores.argmax(axis=1))


@pytest.mark.parametrize(("size", "lists"), [(1, 2), (50_000, 512), (300_000, 1024), (2_000_000, 4096)])
def test_lists_grow_with_the_catalog(size: int, lists: int) -> None:
    assert list_count(size) == lists


def test_as_few_lists_are_scanned_as_reach_the_recall(both: tuple[InvertedIndex, FlatIndex]) -> None:
    inverted, flat = both
    before = inverted.probes
    probes, recall = probes_for(inverted, flat, queries())
    assert recall >= 0.98
    assert probes == 192
    inverted.probes = before


def test_parts_that_do_not_fit_together_are_refused(vectors: np.ndarray) -> None:
    centroids, list_of_row = clustered(vectors, 1)
    lists = faiss.serialize_index(inverted_lists(vectors, len(centroids), list_of_row))
    flat = FlatIndex(faiss.serialize_index(flat_index(vectors[:-1])), "here")
    with pytest.raises(IndexMismatchError, match="fit together"):
        InvertedIndex(lists, flat, centroids, list_of_row, 8)
    with pytest.raises(IndexMismatchError, match="another kind"):
        FlatIndex(lists, "here")


@pytest.mark.usefixtures("broad")
def test_what_is_kept_of_a_read_only_filter_changes_no_result_and_goes_with_it(
    both: tuple[InvertedIndex, FlatIndex],
) -> None:
    index, _ = both
    rows = np.arange(0, SIZE, 2, dtype=np.int32)
    expected = [index.search_subset(query, rows, 20).tolist() for query in queries()[:10]]
    assert not index._choices
    kept = rows.copy()
    kept.flags.writeable = False
    assert [index.search_subset(query, kept, 20).tolist() for query in queries()[:10]] == expected
    assert len(index._choices) == 1
    del kept
    assert not index._choices
