"""A title cut into parts: what may name the product, and what only says something about it.

Cuts are at punctuation, and before words that begin a complement ("for", "with", "compatible" …).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ecom_rlve.catalog.shop_words.phrases import fold_words

_CUT = re.compile(
    r"(?P<strong>[|:：]|[–—]|-(?=\s)|(?<=\s)-|【|】)|(?P<open>[(\[{（「])|(?P<weak>(?<!\d)\"|[,;!?，；！？…~“”、)\]}）」]|\.(?=\s|$))"
)
_WORD = re.compile(r"\w+")
_COMPLEMENTS = frozenset(
    ("for", "with", "w", "without", "by", "in", "from", "to", "that", "fits", "compatible", "featuring", "including")
)
_NAMING = frozenset(("in", "to", "by", "from", "that"))
"""Complements that a name may hold: "Back to the Future mug", "Made in Italy sandals"."""
_MOST_BEFORE_COMMA = 3
"""A brand and a model of so many words may stand before a comma and the thing itself."""


class Part(NamedTuple):
    """A run of a title's words."""

    words: list[str]
    """Case folded; "&" and "+" became "and"."""
    is_naming: bool
    """Whether it may name the product: it stands at the start, or where titles say the thing after a brand or name."""


class TitleParts(NamedTuple):
    """The parts of a title."""

    parts: list[Part]
    """Outside of complements, in order."""
    complements: list[Part]
    """Their first words are the complements' own."""


@lru_cache(maxsize=64)
def parts_of(title: str) -> TitleParts:
    """Cut a title into parts."""
    parts: list[Part] = []
    complements: list[Part] = []
    before = 0
    for cut, chunk in _chunks(title):
        words = fold_words(_joints_spelled(chunk))
        at = next((at for at, word in enumerate(words) if word in _COMPLEMENTS and (at or parts)), len(words))
        may_name = cut in ("", "strong") or (cut == "weak" and before <= _MOST_BEFORE_COMMA)
        if words[:at]:
            parts.append(Part(words[:at], may_name))
        complements += (Part(words[start:stop], words[start] in _NAMING) for start, stop in _runs(words, at))
        before += len(words)
    return TitleParts(parts, complements)


def without_complements(title: str) -> str:
    """Return a title up to the first complement of each part between commas, dashes and brackets, as it is written."""
    chunks = [chunk for _, chunk in _chunks(title)]
    starts = [
        next((word.start() for word in _WORD.finditer(chunk) if _begins_complement(word)), None) for chunk in chunks
    ]
    return " | ".join(chunk[:start] for chunk, start in zip(chunks, starts, strict=True))


def _begins_complement(word: re.Match[str]) -> bool:
    # "In" after a number is a unit.
    is_unit = word[0].casefold() == "in" and word.string[: word.start()].rstrip()[-1:].isdigit()
    return word[0].casefold() in _COMPLEMENTS and bool(word.start()) and not is_unit


def _joints_spelled(chunk: str) -> str:
    """Spell out "&" and "/", and "+" as "with": what comes after it is an extra. A decimal stays one word."""
    spelled = re.sub(r"(?<=\s)\+(?=\s)", " with ", re.sub(r"[&/]", " and ", chunk))
    return re.sub(r"(?<=\d)[\"”″]", " inch ", re.sub(r"(?<=\d)\.(?=\d)", "p", spelled))


def _chunks(title: str) -> Iterator[tuple[str, str]]:
    """Yield the texts between cuts, each with the kind of cut before it; empty at the start."""
    cut, start = "", 0
    for found in _CUT.finditer(title):
        if title[start : found.start()].strip():
            yield cut, title[start : found.start()]
            cut = ""
        start = found.end()
        # Of several cuts without words between them the loosest counts: "(Pack of 2) - Mug".
        kind = str(found.lastgroup)
        cut = kind if not cut or kind in ("strong", "open") else cut
    if title[start:].strip():
        yield cut, title[start:]


def _runs(words: list[str], first: int) -> Iterator[tuple[int, int]]:
    starts = [at for at in range(first, len(words)) if words[at] in _COMPLEMENTS]
    yield from pairwise([*starts, len(words)])
