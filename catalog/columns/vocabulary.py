"""The different words of a catalog's products, numbered; looking one up needs no Python object for each word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.table import Texts

_CACHED = 65_536


class Vocabulary:
    """Words numbered from 0. Everything it needs lies in arrays, which may be memory-mapped."""

    def __init__(
        self,
        words: Texts,
        hashes: NDArray[np.uint64],
        by_hash: NDArray[np.int32],
        letter_marks: NDArray[np.uint64],
    ) -> None:
        self.words = words
        self.letter_marks = letter_marks
        """The set of letters of each word, see :func:`letter_mark`."""
        self._hashes, self._by_hash = hashes, by_hash
        self.number = lru_cache(_CACHED)(self._number)

    @classmethod
    def of(cls, words: Iterable[str]) -> Vocabulary:
        """Number different words in the order given."""
        known = list(words)
        hashes = np.fromiter(map(_hash, known), dtype=np.uint64, count=len(known))
        by_hash = np.argsort(hashes, kind="stable").astype(np.int32)
        marks = np.fromiter(map(letter_mark, known), dtype=np.uint64, count=len(known))
        return cls(Texts.pack(known), hashes[by_hash], by_hash, marks)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Vocabulary:
        """Return the vocabulary that :attr:`arrays` describes; raises ``KeyError`` if one of them is missing."""
        words = Texts(arrays["word_blob"], arrays["word_offsets"])
        return cls(words, arrays["word_hashes"], arrays["word_by_hash"], arrays["word_marks"])

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything it consists of, by name."""
        return {
            "word_blob": self.words.blob,
            "word_offsets": self.words.offsets,
            "word_hashes": self._hashes,
            "word_by_hash": self._by_hash,
            "word_marks": self.letter_marks,
        }

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return self.number(word) is not None

    def __iter__(self) -> Iterator[str]:
        return (self.words[number] for number in range(len(self)))

    def _number(self, word: str) -> int | None:
        """Return the number of a word, None for one that the vocabulary lacks."""
        wanted = np.uint64(_hash(word))
        at = int(np.searchsorted(self._hashes, wanted))
        while at < len(self._hashes) and self._hashes[at] == wanted:
            number = int(self._by_hash[at])
            if self.words[number] == word:
                return number
            at += 1
        return None


def letter_mark(word: str) -> int:
    """Return the set of a word's letters as 64 bits; different letters may share a bit."""
    mark = 0
    for letter in word:
        mark |= 1 << (ord(letter) & 63)
    return mark


def _hash(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "little")
