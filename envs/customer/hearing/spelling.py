"""Reads words as they were meant: shorthand of chats, and slips of one letter.

Only words that are spelt like no known one are looked at, so that no honest word changes.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

_WORD = re.compile(r"[a-z']+")
_LEAST = 4
"""Letters of a word that is known well enough with one of them wrong."""
_MOST_REMEMBERED = 4096
"""Misspelt words whose correction is remembered; this bounds the memory."""

_SHORTHAND: Mapping[str, str] = MappingProxyType(
    {
        "u": "you", "ur": "your", "r": "are", "y": "why", "n": "and", "b4": "before", "w": "with", "wat": "what",
        "wut": "what", "wot": "what", "wats": "what", "whats": "what", "wuts": "what", "whos": "who", "hows": "how",
        "whens": "when", "wheres": "where", "pls": "please", "plz": "please", "ya": "you",
        "yer": "your", "youre": "you're", "wich": "which", "wen": "when", "wer": "where", "hw": "how", "thx": "thanks",
        "ty": "thanks", "cuz": "because", "bc": "because", "abt": "about", "smth": "something", "sth": "something",
        "gimme": "give", "lemme": "let", "gotta": "must",
        "wanna": "want", "gonna": "will", "shud": "should", "cud": "could", "wud": "would", "teh": "the",
        "im": "i'm", "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "havent": "haven't", "cant": "can't",
        "isnt": "isn't", "qty": "quantity", "min": "minimum", "max": "maximum", "hrs": "hours",
        "hr": "hours", "lbs": "pounds", "lb": "pounds", "yrs": "years", "addy": "address", "colr": "colour",
        "wth": "with", "ok": "okay", "yall": "you",
        "y'all": "you", "k": "okay", "pcs": "pieces", "prolly": "probably", "fave": "favourite",
    }
)  # fmt: skip
"""What people write in chats, and the words that they mean."""


class Speller:
    """Knows a vocabulary, most frequent words first, and finds the word that is one slip away from another."""

    def __init__(self, vocabulary: Sequence[str], rare: Iterable[str] = ()) -> None:
        """``vocabulary``: lower-case words, most frequent first; ``rare``: words that are right, and never meant."""
        self._known = frozenset((*vocabulary, *rare))
        self._meant: dict[str, str] = {}
        self._near: dict[str, list[str]] = {}
        for word in vocabulary:
            if len(word) >= _LEAST:
                for stump in _stumps(word):
                    self._near.setdefault(stump, []).append(word)

    def corrected(self, text: str, kept: Container[str]) -> str:
        """Return a casefolded text with each word as it was meant; ``kept``: words that are right, whatever they are.

        >>> Speller(["what", "total"]).corrected("waht is ur totla?", ())
        'what is your total?'
        """
        return _WORD.sub(lambda match: self.word(match[0], kept), text)

    def knows(self, word: str) -> bool:
        """Tell whether a word is one of the corpus."""
        return word in self._known

    def word(self, word: str, kept: Container[str]) -> str:
        """Return one casefolded word as it was meant."""
        if word in self._known or word in kept:
            return word
        if word in _SHORTHAND:
            return _SHORTHAND[word]
        if len(word) < _LEAST or not word.isalpha():
            return word
        if word not in self._meant:
            if len(self._meant) >= _MOST_REMEMBERED:
                self._meant.clear()
            self._meant[word] = self._nearest(word)
        return self._meant[word]

    def _nearest(self, word: str) -> str:
        """Return the known word that is one slip away, swapped letters first, then the most frequent; or the word."""
        near = dict.fromkeys(found for stump in _stumps(word) for found in self._near.get(stump, ()))
        slips = [found for found in near if _is_one_slip(word, found)]
        return min(slips, key=lambda found: sorted(found) != sorted(word), default=word)


def _stumps(word: str) -> Iterator[str]:
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def _is_one_slip(word: str, other: str) -> bool:
    """Tell whether words differ by one letter too many, too few or wrong, or by two neighbours swapped.

    A word whose first letter is another is another word.
    """
    if word[0] != other[0]:
        return False
    if len(word) != len(other):
        shorter, longer = sorted((word, other), key=len)
        return shorter in _stumps(longer)
    wrong = [at for at, (one, two) in enumerate(zip(word, other, strict=True)) if one != two]
    if len(wrong) == 1:
        return True
    return len(wrong) == 2 and wrong[1] == wrong[0] + 1 and sorted(word) == sorted(other)
