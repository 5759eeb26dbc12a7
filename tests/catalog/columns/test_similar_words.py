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
    bags = Bags.of(
        Vocabulary.of(vocabulary),
        np.arange(len(vocabulary) + 1, dtype=np.int64),
        np.arange(len(vocabulary), dtype=np.int32),
        np.ones(len(vocabulary), dtype=np.int32),
    )
    rows = np.arange(len(vocabulary), dtype=np.int32)
    found = np.flatnonzero(bags.overlap([strange], rows)).tolist()
    if strange in vocabulary:
        assert found == [vocabulary.index(strange)]
    else:
        near = [number for number, word in enumerate(vocabulary) if OSA.distance(strange, word) <= 1]
        assert found == near[:1]


def test_small_and_large_vocabularies_count_alike(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    search = shop.search
    rows = np.arange(0, 400, 3, dtype=np.int32)
    queries = [search.catalog.titles[row].casefold().split() for row in range(0, 400, 40)]
    queries += [[word[:-1] + "x" for word in words] for words in queries]
    dense = [search.bags.overlap(words, rows).tolist() for words in queries]
    monkeypatch.setattr("ecom_rlve.catalog.columns.words._FEW_WORDS", 0)
    assert [search.bags.overlap(words, rows).tolist() for words in queries] == dense
