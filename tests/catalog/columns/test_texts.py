"""Strings in arrays: packed sequences and finding one by its content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.columns.columns import Column, coded
from ecom_rlve.catalog.columns.texts import HashIndex, Texts, Words, text_digests

plain = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
vocabularies = st.lists(plain, max_size=20, unique=True)


@given(st.lists(plain, max_size=20))
def test_every_place_of_a_text_is_found(texts: list[str]) -> None:
    index = HashIndex.of(text_digests(texts)[:, 0])
    for text in [*texts, "not one of them"]:
        assert index.candidates(text) == [place for place, other in enumerate(texts) if other == text]


@given(vocabularies)
def test_packed_words_are_a_sequence(words: list[str]) -> None:
    packed = Words.pack(words)
    assert len(packed) == len(words)
    assert list(packed) == list(reversed(list(reversed(packed)))) == words
    assert packed[1:3] == words[1:3]
    assert [packed[at] for at in range(-len(words), len(words))] == words + words
    assert all(word in packed for word in words)
    with pytest.raises(IndexError):
        packed[len(words)]


@given(vocabularies, plain)
def test_packed_words_are_found_like_those_of_a_small_vocabulary(words: list[str], strange: str) -> None:
    small = coded([], words)
    large = Column(small.values, Words.pack(words))
    for word in (*words, *map(str.upper, words), strange):
        assert large.encode(word) == small.encode(word)
    assert large.encode(3.0) is None


def test_texts_are_iterated_once_from_first_to_last() -> None:
    assert list(Texts.pack(["", "a", "ß"])) == ["", "a", "ß"]
