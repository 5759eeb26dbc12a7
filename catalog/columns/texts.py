"""Strings in arrays: packed sequences, and look-ups by content that need no Python object for each string."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import overload

import numpy as np
from numpy.typing import NDArray


class Texts:
    """An immutable sequence of strings in one UTF-8 blob."""

    __slots__ = ("blob", "offsets")

    def __init__(self, blob: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.blob = blob
        self.offsets = offsets

    @classmethod
    def pack(cls, texts: Iterable[str]) -> Texts:
        """Return the texts packed; lone surrogates are replaced by ``?``."""
        encoded = [text.encode("utf-8", "replace") for text in texts]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> str:
        return self.blob[self.offsets[row] : self.offsets[row + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))


def text_digest(text: str) -> bytes:
    """Return a digest of a text, 16 bytes; lone surrogates count as ``?``."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def text_digests(texts: Iterable[str]) -> NDArray[np.uint64]:
    """Return the digests of texts as pairs of numbers, shape (texts, 2); the first of a pair is the text's hash."""
    return np.frombuffer(b"".join(map(text_digest, texts)), dtype="<u8").reshape(-1, 2)


class HashIndex:
    """Finds texts of a sequence by their 64-bit hashes: ``hashes`` ascending, ``places`` of the texts beside them."""

    __slots__ = ("hashes", "places")

    def __init__(self, hashes: NDArray[np.uint64], places: NDArray[np.int32]) -> None:
        self.hashes = hashes
        self.places = places

    @classmethod
    def of(cls, hashes: NDArray[np.uint64]) -> HashIndex:
        """Index texts by their hashes in text order."""
        order = np.argsort(hashes, kind="stable").astype(np.int32)
        return cls(hashes[order], order)

    def candidates(self, text: str) -> list[int]:
        """Return the places of the texts with the hash of ``text``, ascending: nearly always one or none."""
        wanted = np.frombuffer(text_digest(text), dtype="<u8")[0]
        start, stop = self.hashes.searchsorted(wanted, "left"), self.hashes.searchsorted(wanted, "right")
        found: list[int] = self.places[start:stop].tolist()
        return found


class Words(Sequence[str]):
    """A large vocabulary: different words in a fixed order; look-ups ignore case."""

    __slots__ = ("lookup", "texts")

    def __init__(self, texts: Texts, lookup: HashIndex) -> None:
        self.texts = texts
        self.lookup = lookup
        """Index of the case-folded words."""

    @classmethod
    def pack(cls, words: Iterable[str]) -> Words:
        """Return the words packed."""
        known = list(words)
        return cls(Texts.pack(known), HashIndex.of(text_digests(word.casefold() for word in known)[:, 0]))

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self.texts[place] for place in range(*at.indices(len(self)))]
        return self.texts[range(len(self))[at]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def code_of(self, word: str) -> int | None:
        """Return the place of the word that equals ``word`` but for case, the last of several; None if none does."""
        folded = word.casefold()
        alike = (place for place in reversed(self.lookup.candidates(folded)) if self.texts[place].casefold() == folded)
        return next(alike, None)
