"""How varied the customer's own words are, without the values that they carry (SPEC §7, Wording)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import exp, log

from ecom_rlve.envs.language.acts import Act
from ecom_rlve.envs.language.phrases import spellings
from ecom_rlve.envs.language.speaker import PROTECTED_PLACES
from ecom_rlve.evaluation.customer.wording_statistics import words_in

_NUMBER = re.compile(
    r"\$?\d[\d.,]*(?:\s?(?:ml|kg|cm|mm|w|g|l|h|watts?|grams?|litres?|kilos?|hours?|days?|stars?)\b)?", re.IGNORECASE
)
_GRAMS = 4
_SMOOTHED = 0.1
"""Matches of an n-gram that never matches, as in method 1 of Chen and Cherry 2014."""


def without_values(text: str, acts: Iterable[Act]) -> str:
    """Return a text without the values of its acts, titles and numbers: what is left are the customer's words."""
    for each in sorted(_values(acts), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(each)}(?!\w)", " ", text, flags=re.IGNORECASE)
    return _NUMBER.sub(" ", text)


def _values(acts: Iterable[Act]) -> set[str]:
    found: set[str] = set()
    for act in acts:
        found.add(act.title)
        found.update(text for place, text in act.places if place in PROTECTED_PLACES)
        found.update(each for mention in act.mentions for fact in mention.facts for each in spellings(fact))
    return {each for each in found if each}


def word_types(texts: Sequence[str]) -> int:
    """Return how many different words the texts hold."""
    return len(set(chain.from_iterable(map(words_in, texts))))


def repeated(texts: Sequence[str], least: int = 10) -> float:
    """Return the share of texts of at least so many words that were said before, word by word; 0 if there are none."""
    long = [" ".join(words) for words in map(words_in, texts) if len(words) >= least]
    return 1 - len(set(long)) / len(long) if long else 0.0


def most_frequent_share(names: Mapping[str, Sequence[str]]) -> float:
    """Return the largest share that one name has in one of the lists."""
    return max((max(Counter(each).values()) / len(each) for each in names.values() if each), default=0.0)


def self_bleu(texts: Sequence[str]) -> float:
    """Return the mean BLEU-4 of each text with all others as references, 0 to 1 (Zhu et al. 2018, "Texygen").

    High where texts repeat each other. Smoothed as in :data:`_SMOOTHED`.
    """
    if len(texts) < 2:
        return 0.0
    words = [words_in(text) for text in texts]
    counts = [[_grams(each, size) for size in range(1, _GRAMS + 1)] for each in words]
    highest = [_two_highest(each[size] for each in counts) for size in range(_GRAMS)]
    lengths = Counter(map(len, words))
    return sum(_bleu(each, len(own), highest, lengths) for each, own in zip(counts, words, strict=True)) / len(texts)


def _grams(words: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(size)), strict=False))


def _two_highest(counts: Iterable[Counter[tuple[str, ...]]]) -> dict[tuple[str, ...], tuple[int, int]]:
    """Return for each n-gram the two highest counts that it has in a text: whose own is one of them has the other."""
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for each in counts:
        for gram, count in each.items():
            first, second = found.get(gram, (0, 0))
            found[gram] = (count, first) if count > first else (first, max(second, count))
    return found


def _bleu(
    counts: Sequence[Counter[tuple[str, ...]]],
    length: int,
    highest: Sequence[dict[tuple[str, ...], tuple[int, int]]],
    lengths: Counter[int],
) -> float:
    total = 0.0
    for own, best in zip(counts, highest, strict=True):
        matched = sum(min(count, best[gram][count == best[gram][0]]) for gram, count in own.items())
        total += log(max(matched, _SMOOTHED) / max(1, own.total()))
    others = [each for each in lengths if each != length or lengths[each] > 1]
    nearest = min(others, key=lambda each: (abs(each - length), each))
    brevity = 1.0 if length >= nearest else exp(1 - nearest / max(1, length))
    return brevity * exp(total / len(counts))
