"""The thing that a title names: its head noun.

The head of an English noun phrase is its last word. So the last noun of a part counts, and only if nothing comes after
it but words that name no thing: colours, sizes, numbers, "new", "pack of 2". "Laptop Sleeve" is no laptop although the
list may lack "sleeve". Where the last word is unknown the part names nothing, and the product stays without a kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ecom_rlve.catalog.kinds.nouns import (
    Ending,
    Leaf,
    Noun,
    bare,
    before_thing,
    kind_words,
    measure,
    noun_ending,
    noun_of,
    word_set,
)
from ecom_rlve.catalog.kinds.plain_words import is_number, is_plain
from ecom_rlve.catalog.kinds.title_parts import Part, parts_of
from ecom_rlve.catalog.shop_words.inflection import plural, singular
from ecom_rlve.catalog.shop_words.phrases import fold_words

_MOST_AFTER_PLURAL = 4
"""A longer run of words after a noun in the plural is a salad of words."""
_TITLES = 64
"""A row asks for the head of its title several times, and no other row does."""
_SHORT_NAME = 5
"""A title of so few words that begins like a name ("The Red Tent") is taken for one."""
_COUNTS = frozenset(("inch", "in", "cm", "pack", "pcs", "piece", "pieces", "oz", "set"))
_CONSUMED = ("Food", "Health", "Beauty", "Cleaning", "Pets")
_NEVER_ALONE = ("kit", "mount")
_SETS = ("set", "sets", "kit", "kits", "combo", "bundle")


class Head(NamedTuple):
    """The noun that a part of a title ends with."""

    noun: Noun
    """Its leaf is that of the whole phrase: "hat rack", "dog blanket"."""
    start: int
    """Places of its first word, and behind its last one."""
    stop: int


class TitleHead(NamedTuple):
    """What a title names."""

    leaf: Leaf
    is_firm: bool
    """False for a noun that is mostly a modifier, or says little alone."""
    words: tuple[str, ...]
    """The words of the noun as the title has them."""
    around: tuple[tuple[str, ...], ...] = ()
    """It with the plain words right before it, and those right after it: they say how the thing is."""


@lru_cache(maxsize=_TITLES)
def head_of_title(title: str) -> TitleHead | None:
    """Return what a title names; None where it names nothing for sure.

    >>> head_of_title("Smart Portable Projector with Simple Remote").leaf.singular
    'projector'
    """
    cut = parts_of(title)
    for part in cut.parts[1:]:
        if _is_format(part.words):
            return _recording(part.words)
    return _named(_in_order(cut.parts, cut.complements))


def inner_nouns(title: str) -> set[Leaf]:
    """Return the leaves of all firm nouns in a title, wherever they stand outside of complements."""
    return {leaf for part in parts_of(title).parts for leaf in _inner_nouns(part.words)}


def head_of(words: Sequence[str]) -> Head | None:
    """Return the noun that words end with, whatever plain words come after it; None where they end otherwise."""
    stop = _end_of_phrase(words)
    while stop:
        ending = noun_ending(words, stop)
        if ending and not lacks_cue(words, ending.at, stop):
            head = _flavoured(words, _whole(words, Head(ending.noun, ending.at, stop)))
            return None if head.noun.leaf.singular in _NEVER_ALONE or head.noun.mark == "!" else head
        if not is_plain(words, stop - 1):
            return _counted(words, stop)
        stop -= 1
    return None


def _flavoured(words: Sequence[str], last: Head) -> Head:
    """Return what is eaten or taken and has an ingredient after it: "granola honey almond"; else ``last``."""
    if words[last.stop - 1] not in word_set("ingredients"):
        return last
    for ending, stop in _nouns_in(words[: last.start]):
        if ending.noun.leaf.family not in _CONSUMED:
            return last
        if words[stop - 1] not in word_set("ingredients"):
            is_near = all(is_plain(words, at) or words[at] in word_set("ingredients") for at in range(stop, last.start))
            return Head(ending.noun, ending.at, stop) if is_near else last
    return last


def _counted(words: Sequence[str], end: int) -> Head | None:
    """Return the last noun in the plural, after which unknown words may stand: "bookends cast iron owl".

    Hardly any English noun in the plural modifies another.
    """
    for stop in range(end - 1, max(0, end - 1 - _MOST_AFTER_PLURAL), -1):
        ending = noun_ending(words, stop)
        if ending is None or ending.noun.mark or lacks_cue(words, ending.at, stop):
            continue
        is_plural = measure(ending.noun.leaf.singular) != "pair of " and words[stop - 1] != singular(words[stop - 1])
        return _whole(words, Head(ending.noun, ending.at, stop)) if is_plural else None
    return None


def _named(parts: Sequence[Part]) -> TitleHead | None:
    weak: TitleHead | None = None
    pending: set[Leaf] = set()
    for part in parts:
        head = _head_of_part(part.words)
        if head is None:
            pending |= _inner_nouns(part.words)
            continue
        if pending and head.noun.leaf not in pending:
            return None
        found = TitleHead(
            head.noun.leaf, not head.noun.mark, tuple(part.words[head.start : head.stop]), _around(part.words, head)
        )
        if found.is_firm:
            return found
        if _inner_nouns(part.words[: head.start]):
            return None
        weak = weak or found
    return weak


def _around(words: Sequence[str], head: Head) -> tuple[tuple[str, ...], ...]:
    start, stop = head.start, head.stop
    while start and is_plain(words, start - 1):
        start -= 1
    while stop < len(words) and is_plain(words, stop):
        stop += 1
    return tuple(words[start : head.stop]), tuple(words[head.stop : stop])


def _is_format(words: Sequence[str]) -> bool:
    """Say whether a part tells only in what form a book, film or recording is sold: "(Paperback)"."""
    formats = kind_words()["media_only"]
    is_known = [word in formats for word in words]
    return any(is_known) and all(known or is_plain(words, at) for at, known in enumerate(is_known))


def _recording(words: Sequence[str]) -> TitleHead | None:
    """Return the book or film of a format; None where the format does not say what is sold: "(Vinyl)"."""
    formats = kind_words()["media_only"]
    named = [noun for noun in (noun_of(formats.get(word, "")) for word in words) if noun]
    return TitleHead(named[0].leaf, True, ()) if named else None


def _in_order(parts: Sequence[Part], complements: Sequence[Part]) -> list[Part]:
    naming = [part for at, part in enumerate(parts) if part.is_naming and (not at or not _is_specification(part.words))]
    if naming and naming[0].words[0] in word_set("name_openings") and len(naming[0].words) <= _SHORT_NAME:
        return naming[1:]
    if naming and not any(_inner_nouns(part.words) for part in naming):
        naming += [Part(part.words[1:], True) for part in complements if _continues(naming, part)]
    return naming


def _continues(naming: Sequence[Part], complement: Part) -> bool:
    """Say whether a complement belongs to a name, or repeats the last word: "band for Apple Watch band"."""
    head = head_of(complement.words[1:])
    return complement.is_naming or (
        head is not None and any(part.words[-1] == complement.words[head.stop - 1] for part in naming)
    )


def _is_specification(words: Sequence[str]) -> bool:
    """Say whether a part tells of an equipment: "16GB RAM", but not "11 inch tablet"."""
    return words[0][0].isdigit() and not set(words[:2]) & _COUNTS


def _head_of_part(words: Sequence[str]) -> Head | None:
    if "of" in words[1:] and not noun_ending(words, len(words)):
        return _head_around_of(words)
    found = head_of(words)
    if found and "of" in words[: found.start]:
        return _head_around_of(words)
    return _coordinated(words, found) if found else None


def _head_around_of(words: Sequence[str]) -> Head | None:
    """Read "set of 2 mugs" (mugs), "tree of life necklace" (necklace), "painting of a boat" (painting)."""
    at = max(at for at, word in enumerate(words) if word == "of")
    left, right = words[:at], words[at + 1 :]
    after = head_of(right)
    if left and left[-1] in word_set("measures"):
        return _shifted(after, at + 1) if after else head_of(left[:-1])
    depicts = left and left[-1] in word_set("depictions") and right and right[0] in ("a", "an", "the")
    return head_of(left) if depicts or not after else _shifted(after, at + 1)


def _shifted(head: Head, by: int) -> Head:
    return Head(head.noun, head.start + by, head.stop + by)


def _coordinated(words: Sequence[str], last: Head) -> Head | None:
    """Return the first of two things joined by "and", none where they are a set or of two trades, else ``last``."""
    joint = max((at for at, word in enumerate(words[: last.start]) if word == "and"), default=0)
    first = noun_ending(words, joint) if joint else None
    if first is None or first.noun.mark or words[joint - 1] in word_set("ingredients"):
        return last
    if any(not is_plain(words, at) for at in range(joint + 1, last.start)):
        return last
    if first.noun.leaf.family != last.noun.leaf.family:
        # In "tea and coffee mug" both say what the mug is for.
        inner = noun_ending(words, last.start + 1)
        is_modifier = inner is not None and inner.noun.leaf.family == first.noun.leaf.family
        return last if is_modifier or last.noun.mark else None
    return None if any(word in _SETS for word in words[last.start :]) else Head(first.noun, first.at, joint)


def _end_of_phrase(words: Sequence[str]) -> int:
    """Return where a salad of words or a list of measures begins after the first noun; else the end."""
    are_measures = _ends_with_measured(words)
    for at in range(1, len(words)):
        is_people = words[at] in word_set("people") or words[at] in word_set("sizes")
        if is_people or (are_measures and is_number(words[at])):
            stop = at if is_people else _behind_plain(words, at)
            ending = noun_ending(words, stop)
            if ending and _is_whole(words, ending, stop):
                return stop
    return len(words)


def _ends_with_measured(words: Sequence[str]) -> bool:
    """Say whether no noun that could be the head stands at the end: none, or one with a measure, "256gb ssd".

    Words such as "band" after a number mostly mean the thing itself: "watch 44mm band".
    """
    stop = _behind_plain(words, len(words))
    if not stop or words[stop - 1] in word_set("accessory_heads"):
        return False
    ending = noun_ending(words, stop)
    before = words[ending.at - 1] if ending and ending.at else ""
    return ending is None or is_number(before) or before in word_set("units")


def _behind_plain(words: Sequence[str], at: int) -> int:
    """Return the place behind the last word before ``at`` that is a noun or not plain."""
    while at > 1 and noun_ending(words, at) is None and is_plain(words, at - 1):
        at -= 1
    return at


def _is_whole(words: Sequence[str], ending: Ending, stop: int) -> bool:
    """Say whether a noun names a thing for sure by itself, or with the noun before it."""
    if lacks_cue(words, ending.at, stop) or ending.noun.mark == "~":
        return False
    return not ending.noun.mark or not _whole(words, Head(ending.noun, ending.at, stop)).noun.mark


def _inner_nouns(words: Sequence[str]) -> set[Leaf]:
    return {ending.noun.leaf for ending, _ in _nouns_in(words)}


def _nouns_in(words: Sequence[str]) -> Iterator[tuple[Ending, int]]:
    """Yield the firm nouns of some words from the last to the first, each with the place behind it."""
    stop = len(words)
    while stop:
        ending = noun_ending(words, stop)
        if ending and not ending.noun.mark:
            yield ending, stop
        stop = ending.at if ending else stop - 1


def lacks_cue(words: Sequence[str], start: int, stop: int) -> bool:
    """Say whether a single word has other meanings, and no other of the words speaks for the listed one."""
    cues = kind_words()["cues"].get(words[start]) if stop - start == 1 else None
    return cues is not None and not set(cues.split()) & {re.sub(r"^\d+", "", word) or word for word in words}


def _whole(words: Sequence[str], head: Head) -> Head:
    """Return a head with the words before it that belong to its name."""
    before = words[head.start - 1] if head.start else ""
    if head.stop < len(words) and words[head.stop] in ("set", "sets"):
        return _as_set(words, head)
    if head.noun.mark == "*":
        return _compound(words, head)
    if before in word_set("animals") and _is_for_animals(head.noun.leaf):
        return _prefixed(head, before, "Pets")
    if before in word_set("play") and head.noun.leaf.family not in ("Toys", "Books", "Media"):
        return _prefixed(head, before, "Toys")
    return head


def _as_set(words: Sequence[str], head: Head) -> Head:
    """Return the set that a noun makes with the word "set" after it where that is a thing of its own: "knife set"."""
    one = singular(words[head.stop - 1])
    for start in range(head.start, head.stop):
        together = noun_of(" ".join([*words[start : head.stop - 1], one, "set"]))
        if together:
            return Head(together, start, head.stop + 1)
    return head


def _is_for_animals(leaf: Leaf) -> bool:
    if leaf.family in ("Furniture", "Beauty", "Grooming", "Medical", "Health", "Cleaning"):
        return True
    return leaf.singular in word_set("of_animals")


def _compound(words: Sequence[str], head: Head) -> Head:
    """Return a general noun with the noun or modifier right before it: "hat rack"."""
    inner = noun_ending(words, head.start)
    if inner is not None and not lacks_cue(words, inner.at, head.start):
        before, start = " ".join(words[inner.at : head.start]), inner.at
    elif head.start and words[head.start - 1] in word_set("modifiers"):
        before, start = words[head.start - 1], head.start - 1
    else:
        return head
    if inner is not None and fold_words(bare(inner.noun.leaf.singular)) == before.split():
        before = bare(inner.noun.leaf.singular)
    own = " ".join([*words[head.start : head.stop - 1], singular(words[head.stop - 1])])
    leaf = head.noun.leaf if head.stop - head.start == 1 else Leaf((), own, plural(own), head.noun.leaf.family)
    whole = _prefixed(Head(Noun(leaf, ""), head.start, head.stop), before, leaf.family)
    return Head(whole.noun, start, head.stop)


def _prefixed(head: Head, before: str, family: str) -> Head:
    leaf = head.noun.leaf
    several = f"{before} {leaf.plural}"
    named = Leaf((family, several.capitalize()), before_thing(leaf.singular, before), several, family)
    return Head(Noun(named, head.noun.mark), head.start - 1, head.stop)
