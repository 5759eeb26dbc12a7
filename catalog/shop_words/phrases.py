"""Finding the phrases of a vocabulary in a text, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def fold_words(text: str) -> list[str]:
    """Return the words of a text in order, case folded. An apostrophe joins words, a hyphen separates them.

    >>> fold_words("Men’s T-Shirt (2XL)")
    ["men's", 't', 'shirt', '2xl']
    """
    return [word.replace("’", "'") for word in _WORD.findall(text.casefold())]


class Found(NamedTuple, Generic[T]):
    """One phrase found in a text."""

    at: int
    """Place of its first word."""
    words: int
    """How many words it has."""
    value: T
    """Its value in the vocabulary."""

    @property
    def places(self) -> range:
        """The places of its words."""
        return range(self.at, self.at + self.words)


class Phrases(Generic[T]):
    """A vocabulary of phrases, each with a value."""

    def __init__(self, entries: Iterable[tuple[str, T]]) -> None:
        """Index the phrases; raises ValueError where one phrase is given two different values."""
        values: dict[tuple[str, ...], T] = {}
        for phrase, value in entries:
            words = tuple(fold_words(phrase))
            if words and values.setdefault(words, value) != value:
                raise ValueError(f"{phrase!r} stands both for {values[words]!r} and for {value!r}")
        self._by_first: dict[str, list[tuple[tuple[str, ...], T]]] = {}
        for words in sorted(values, key=lambda words: (-len(words), words)):
            self._by_first.setdefault(words[0], []).append((words, values[words]))

    def find(self, words: Sequence[str]) -> list[Found[T]]:
        """Return the phrases that occur, reading from left to right and taking the longest at each place."""
        found: list[Found[T]] = []
        at = 0
        while at < len(words):
            for phrase, value in self._by_first.get(words[at], ()):
                if tuple(words[at : at + len(phrase)]) == phrase:
                    found.append(Found(at, len(phrase), value))
                    at += len(phrase)
                    break
            else:
                at += 1
        return found
