"""Misspelt words stand for the word that a comparison with every word would find."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from ecom_rlve.catalog.columns.vocabulary import Vocabulary
from ecom_rlve.catalog.columns.words import Bags
from ecom_rlve.envs.world.shop import Shop

WORDS = st.text("abcé中1", min_size=1, max_size=7)


@given(st.lists(WORDS, min_size=1, max_size=30, unique=True), WORDS.filter(lambda word: len(word) >= 4))
def test_prefilter_loses_nothing(vocabulary: list[str], strange: str) -> None:
    count = len(vocabulary)
    bags = Bags.of(
        Vocabulary.of(vocabulary),
        np.arange(count + 1, dtype=np.int64),
        np.arange(count, dtype=np.int32),
        np.ones(count, dtype=np.uint8),
        np.ones(count, dtype=np.int32),
        np.ones(count, dtype=np.int32),
    )
    rows = np.arange(count, dtype=np.int32)
    found = np.flatnonzero(bags.scores(bags.sought([(strange,)]), rows)).tolist()
    if strange in vocabulary:
        assert found == [vocabulary.index(strange)]
    elif strange[0].isdigit():
        assert found == [], "a number is not misspelt"
    else:
        near = [number for number, word in enumerate(vocabulary) if OSA.distance(strange, word) <= 1]
        assert found == near[:1]


def test_small_and_large_vocabularies_count_alike(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    bags = shop.search.bags
    rows = np.arange(0, 400, 3, dtype=np.int32)
    queries = [shop.catalog.titles[row].casefold().split() for row in range(0, 400, 40)]
    queries += [[word[:-1] + "x" for word in words] for words in queries]
    asked = [bags.sought([(word,) for word in words]) for words in queries]
    dense = [bags.scores(sought, rows).tolist() for sought in asked]
    assert any(map(any, dense[10:])), "misspelt words are read"
    monkeypatch.setattr("ecom_rlve.catalog.columns.words._FEW_WORDS", 0)
    assert [bags.scores(sought, rows).tolist() for sought in asked] == dense
