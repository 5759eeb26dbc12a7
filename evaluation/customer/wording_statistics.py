"""How varied and how readable texts are: figures that depend on the texts only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)*|\d+(?:[.,]\d+)*")
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)")
_VOWELS = re.compile(r"[aeiouy]+")
_SILENT_END = re.compile(r"(?:[^laeiouy]e|[^aeiouytd]ed)$")


def words_in(text: str) -> list[str]:
    """Return the words of a text, lower case; a number is a word.

    >>> words_in("I'd like 2 lamps, please!")
    ["i'd", 'like', '2', 'lamps', 'please']
    """
    return _WORD.findall(text.casefold())


def distinct_n(texts: Sequence[str], n: int) -> float:
    """Return the share of different n-grams among all n-grams of the texts, 0 to 1; 0 if there are none.

    N-grams do not cross from one text into the next. Source: Li et al. 2016, "A Diversity-Promoting Objective Function
    for Neural Conversation Models". The share falls as texts are added: compare equal numbers of texts.

    >>> distinct_n(["a red lamp", "a blue lamp"], 1)
    0.6666666666666666
    """
    grams: list[tuple[str, ...]] = []
    for text in texts:
        words = words_in(text)
        grams += zip(*(words[start:] for start in range(n)), strict=False)
    return len(set(grams)) / len(grams) if grams else 0.0


def distinct_texts(texts: Sequence[str]) -> float:
    """Return the share of different texts, 0 to 1; 0 if there are none."""
    return len(set(texts)) / len(texts) if texts else 0.0


def type_token_ratio(texts: Sequence[str], window: int = 100) -> float:
    """Return the mean share of different words in stretches of ``window`` words, 0 to 1.

    A fixed stretch makes the ratio independent of the amount of text. Fewer words than that count as one stretch.

    >>> type_token_ratio(["one two two one"])
    0.5
    """
    words = list(chain.from_iterable(map(words_in, texts)))
    stretches = [words[at : at + window] for at in range(0, max(1, len(words) - window + 1), window)]
    ratios = [len(set(stretch)) / len(stretch) for stretch in stretches if stretch]
    return sum(ratios) / len(ratios) if ratios else 0.0


def syllables_in(word: str) -> int:
    """Return an estimate of a word's syllables: its groups of vowels, less a silent ending, at least 1.

    It is within one of the truth for nearly all English words; a number counts as one syllable per character.

    >>> [syllables_in(word) for word in ("lamp", "like", "table", "wanted", "coffee", "machine", "25")]
    [1, 1, 2, 2, 2, 2, 2]
    """
    if word[0].isdecimal():
        return len(word)
    return max(1, len(_VOWELS.findall(word)) - bool(_SILENT_END.search(word)))


def reading_ease(texts: Sequence[str]) -> float:
    """Return the Flesch reading ease: 206.835 - 1.015 words/sentences - 84.6 syllables/words.

    60 to 70 is plain English, higher is easier; above 100 and below 0 are possible. NaN where there is no word.
    Source: Flesch 1948, "A New Readability Yardstick"; syllables are estimated.
    """
    words = list(chain.from_iterable(map(words_in, texts)))
    if not words:
        return float("nan")
    sentences = sum(max(1, len(_SENTENCE_END.findall(text))) for text in texts if words_in(text))
    syllables = sum(map(syllables_in, words))
    return 206.835 - 1.015 * len(words) / sentences - 84.6 * syllables / len(words)
