"""Words find rows: those that a look at every product finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.columns.vocabulary import Vocabulary
from ecom_rlve.catalog.columns.words import Bags
from ecom_rlve.catalog.search.passing import Passing
from ecom_rlve.catalog.search.postings import Postings
from ecom_rlve.envs.world.shop import Shop

WORDS = [f"word{number}" for number in range(8)]


def bags_of(rows: list[dict[int, int]]) -> Bags:
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    lengths = np.diff(offsets).astype(np.int32)
    numbers = np.array([number for row in rows for number in row], dtype=np.int32)
    weights = np.array([weight for row in rows for weight in row.values()], dtype=np.uint8)
    return Bags.of(Vocabulary.of(WORDS), offsets, numbers, weights, lengths, lengths)


ROWS = st.lists(st.dictionaries(st.integers(0, 7), st.integers(1, 30), max_size=6), min_size=1, max_size=30)


@given(ROWS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True))
def test_rows_and_scores_are_those_of_all_rows(rows: list[dict[int, int]], words: list[str]) -> None:
    bags = bags_of(rows)
    postings = Postings(bags, Postings.arrays_of(bags))
    sought = bags.sought([(word,) for word in words])
    every = np.arange(bags.size, dtype=np.int32)
    scores = bags.scores(sought, every)
    for _ in range(2):
        found, summed = postings.matching(sought)
        assert len(set(found.tolist())) == len(found)
        assert dict(zip(found.tolist(), summed.tolist(), strict=True)) == {
            row: score for row, score in zip(every.tolist(), scores.tolist(), strict=True) if score
        }


def test_the_rarest_words_are_read_as_far_as_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecom_rlve.catalog.search.postings.MOST_READ", 5)
    bags = bags_of([{0: 4, 1: 4} if row < 2 else {1: 4, 2: 4} if row < 5 else {2: 4, 3: 4} for row in range(9)])
    postings = Postings(bags, Postings.arrays_of(bags))
    assert sorted(postings.matching(bags.sought([("word0",), ("word1",)]))[0].tolist()) == [0, 1]
    assert sorted(postings.matching(bags.sought([("word1",)]))[0].tolist()) == [0, 1, 2, 3, 4]
    assert postings.matching(bags.sought([("word2",)]))[0].tolist() == [], "a word of most products is not posted"


def test_rare_words_title_words_and_short_texts_count_more() -> None:
    bags = bags_of([{0: 8}, {0: 8, 1: 8}, {0: 1, 1: 8, 2: 8, 3: 8}, {0: 8, 2: 8, 3: 8}])
    every = np.arange(4, dtype=np.int32)
    common, rare = (bags.scores(bags.sought([(word,)]), every) for word in ("word0", "word1"))
    assert common[0] > common[1] > common[3] > common[2] > 0
    assert rare[1] > common[1]
    assert rare[0] == rare[3] == 0
    both = bags.scores(bags.sought([("word0",), ("word1",)]), every)
    np.testing.assert_array_equal(both, common + rare)
    shared = bags.scores(bags.sought([("word0", "word1")]), every)
    assert (shared <= both // 2 + 255).all(), "readings of one word share its weight"
    assert bags.scores(bags.sought([("word0",)]), every[:0]).shape == (0,)


@given(st.lists(st.integers(0, 199), unique=True), st.lists(st.integers(0, 199)), st.booleans())
def test_passing_rows_are_recognised(passing: list[int], rows: list[int], is_kept: bool) -> None:
    lookup = Passing(200)
    among, asked = np.array(passing, dtype=np.int32), np.array(rows, dtype=np.int32)
    among.flags.writeable = not is_kept
    for _ in range(2):
        assert lookup.among(among, asked).tolist() == [row in passing for row in rows]


def test_sets_of_arrays_that_are_gone_are_forgotten() -> None:
    lookup = Passing(100)
    for start in range(0, 90, 10):
        among = np.arange(start, start + 10, dtype=np.int32)
        among.flags.writeable = False
        assert lookup.among(among, np.array([start, start + 10], dtype=np.int32)).tolist() == [True, False]
    assert len(lookup._sets) == 1


def test_every_product_is_found_by_the_words_of_its_title(shop: Shop) -> None:
    search = shop.search
    places = [
        search.rank(shop.catalog.titles[row], None, 5).tolist().index(row) for row in range(0, shop.catalog.size, 7)
    ]
    # A fifth of the products are lookalikes of others, whose titles may be the same.
    assert np.mean(np.array(places) == 0) > 0.85
