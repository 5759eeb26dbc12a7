"""Search in a policy book: ranks sections by the words that they share with a query. Deterministic, no model."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from math import log

from ecom_rlve.envs.policy.book import PolicyBook, Section

_WORD = re.compile(r"[a-z]+")
_ENDINGS = ("ation", "ing", "ion", "ed", "es", "s", "y", "e")
_LEAST_STEM = 3
_STOP_WORDS = frozenset(
    """
    a about after all also am an and any are as ask at be been before but by can could did do does each for from get
    given good had has have hello help hi how i if in is it its know let like long many may me much must my need not of
    on one or our please question should so tell than thank thanks that the their them then there these they this those
    to us was we were what when where which while who why will with within without would you your
    """.split()
)
_TITLE_WEIGHT = 2


def ranked_sections(book: PolicyBook, query: str) -> tuple[Section, ...]:
    """Return the sections that share a word with the query, best first.

    The fewer sections have a shared word, the more it counts; a word in the title counts twice. Ties keep the order of
    the book. Words are compared without their endings ("cancelling", "cancellation"); stop words do not count.
    """
    titles = [_stems(section.title) for section in book.sections]
    texts = [_stems(section.text) for section in book.sections]
    sought = _stems(query)
    spread = Counter(word for title, text in zip(titles, texts, strict=True) for word in (title | text) & sought)
    weight = {word: log(1 + len(texts) / spread[word]) for word in sorted(spread)}
    scored = []
    for at, (title, text) in enumerate(zip(titles, texts, strict=True)):
        score = sum(weight[word] * (_TITLE_WEIGHT * (word in title) + (word in text)) for word in weight)
        if score:
            scored.append((-round(score, 9), at))
    return tuple(book.sections[at] for _, at in sorted(scored))


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in set(_WORD.findall(text.casefold())) - _STOP_WORDS)


@lru_cache(maxsize=16384)
def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
            return word.removesuffix(ending)
    return word
