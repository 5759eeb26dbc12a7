"""Reading words as values before any card has shown them: "in the matte finish" names a finish, whatever matte is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ecom_rlve.envs.reading.facts import Found, Hit, hits_in

_NAMES = ("brand", "model")
"""Kinds whose values are names, which are written with capitals."""
_BARE = ("color", "brand")
"""Kinds of which frames say no more than "in {value}" or "from {value}": what ends such a phrase may be anything."""
_LEADING = frozenset("the a an is that which are as name named known called".split())
_ENDING = frozenset(
    "the a an is that which are as of for from in on at by to and or with where whose when while i i'd i'm my me we "
    "our you your it be please before goes looks if but not".split()
)
_POINTING = frozenset("this these those there here it one any".split())
_MOST_WORDS = 3
_TOKEN = re.compile(r"\S+")


@lru_cache(maxsize=1 << 13)
def open_words_in(text: str, kinds: tuple[str, ...], labels: tuple[tuple[str, str], ...]) -> tuple[Found, ...]:
    """Return the words that frames of a text name as values, in their order.

    Of phrases that overlap, only the one counts of which most is told. Nothing says that such a word is a value of its
    kind: a search that filters by it will.
    """
    found: list[Found] = []
    # Words on both sides of a value tell where it ends, so such phrases go first.
    for hit in sorted(hits_in(text, labels), key=lambda each: (bool(each.last), each.start, each.end)):
        kind, op = hit.key
        if kind not in kinds or op != "eq" or (hit.last == "value" and kind in _BARE):
            continue
        found += [each for each in _trimmed(hit, text) if not any(_overlap(each, other) for other in found)]
    return tuple(sorted(found, key=lambda each: each.start))


def _overlap(one: Found, other: Found) -> bool:
    return one.start < other.end and other.start < one.end


def _trimmed(hit: Hit, text: str) -> Iterator[Found]:
    places = dict(hit.places)
    value = places.get("value") or places.get("bound") or ""
    start = text.find(value, hit.start, hit.end) if value else -1
    if start < 0:
        return
    words = _value(_TOKEN.findall(value), is_name=hit.key[0] in _NAMES)
    if words:
        said = " ".join(words)
        at = text.find(words[0], start)
        yield Found(hit.key[0], "eq", said if hit.key[0] in _NAMES else said.casefold(), at, at + len(said))


def _value(words: Sequence[str], *, is_name: bool) -> list[str]:
    rest = list(words)
    while rest and rest[0].casefold() in _LEADING:
        rest.pop(0)
    kept: list[str] = []
    for word in rest:
        bare = word.strip(",.;:!?")
        if bare.casefold() in _ENDING or bare.casefold() in _POINTING or (is_name and not bare[:1].isupper()):
            break
        kept.append(bare)
        if bare != word:
            break
    is_number = any(each.replace(".", "").isdigit() for each in kept) and len(kept) < _MOST_WORDS
    return [] if len(kept) > _MOST_WORDS or is_number else kept
