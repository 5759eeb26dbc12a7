"""Which things a query names, by the kinds of the catalog: an apple watch band is a band, a case for glasses is a case.

A product bears marks, which are words that no text has: one of its kind, and one of the noun of that kind. A query that
names the kind, or only the noun, looks for the mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ecom_rlve.catalog.shop_words.asking import JOINING, Asking, Clause
from ecom_rlve.catalog.shop_words.splitting import split_groups

_KIND, _NOUN = "=", "~"
_MOST_WORDS = 5
"""Words in the name of a kind."""
_DEFINITE = frozenset("the my our your his her their this that these those".split())


def marks_of_kind(kind: str) -> tuple[str, ...]:
    """Return the marks of the products of a kind, singular or plural.

    >>> marks_of_kind("tool bags"), marks_of_kind("?")
    (('=tool bag', '~bag'), ())
    """
    words = _words(kind)
    return (_KIND + " ".join(words), _NOUN + words[-1]) if words else ()


class Named(NamedTuple):
    """The things that a query names."""

    sought: tuple[str, ...] = ()
    """Marks of the things that it looks for."""
    described: tuple[str, ...] = ()
    """Words that name other things, which only describe those: of a case for the phone the phone."""


def things_named(asking: Asking, is_mark: Callable[[str], bool]) -> Named:
    """Return the things that a query names; ``is_mark`` tells whether products bear a mark.

    Of words that follow each other the last ones name the thing. In a sentence, what comes after "for", "with" and the
    like only describes what stands before, or what follows a comma if nothing stands before. If there is no kind whose
    whole name is said, the first noun counts.

    >>> from ecom_rlve.catalog.shop_words.asking import read_query
    >>> marks = {"=watch", "~watch", "=watch band", "~band", "=tool bag", "~bag"}
    >>> things_named(read_query("A watch band, and a tool bag."), marks.__contains__)
    Named(sought=('=watch band', '=tool bag'), described=())
    >>> things_named(read_query("bags for my watch"), marks.__contains__)
    Named(sought=('~bag',), described=('watch',))
    """
    phrases = [_of_phrase(phrase, is_mark) for sentence in asking.sentences for phrase in _phrases(sentence, is_mark)]
    found = [phrase for phrase in phrases if phrase]
    sought = [phrase[0] for phrase in found]
    kinds = [thing.mark for thing in sought if thing.is_kind]
    words = dict.fromkeys(word for phrase in found for thing in phrase[1:] for word in thing.words)
    said = {word for thing in sought for word in thing.words}
    return Named(
        tuple(dict.fromkeys(kinds)) or tuple(thing.mark for thing in sought[:1]),
        tuple(word for word in words if word not in said),
    )


class _Thing(NamedTuple):
    mark: str
    is_kind: bool
    """Whether the whole name of a kind is said."""

    @property
    def words(self) -> list[str]:
        """The words that name it."""
        return self.mark[1:].split()


def _phrases(sentence: Sequence[Clause], is_mark: Callable[[str], bool]) -> Iterator[list[Clause]]:
    """Cut a sentence at "and" and "or", but not where what describes goes on: "a case for my phone and my tablet"."""
    phrase: list[Clause] = []
    for clause in sentence:
        if clause.opener not in JOINING:
            phrase.append(clause)
        elif clause.words[0] in _DEFINITE and len(_of_phrase(phrase, is_mark)) > 1:
            phrase.append(Clause(phrase[-1].opener, clause.words))
        else:
            yield phrase
            phrase = [clause]
    yield phrase


def _of_phrase(phrase: Sequence[Clause], is_mark: Callable[[str], bool]) -> list[_Thing]:
    """Return the thing that a phrase looks for and those that describe it; empty if it names none."""
    heads, others = list[_Thing](), list[_Thing]()
    fronted = 0
    for clause in phrase:
        thing = _last_thing(clause.words, is_mark)
        if thing is None:
            continue
        if clause.is_describing:
            others.append(thing)
            fronted += clause.is_fronted and not heads
        elif not heads and len(others) == fronted:
            heads.append(thing)
    return heads + others


def _last_thing(words: Sequence[str], is_mark: Callable[[str], bool]) -> _Thing | None:
    """Return the last thing that the words name by its kind, else the last one named by its noun only."""
    only_noun = None
    for last in range(len(words) - 1, -1, -1):
        noun = _NOUN + words[last]
        if not is_mark(noun):
            continue
        for first in range(max(0, last + 1 - _MOST_WORDS), last):
            if is_mark(kind := _KIND + " ".join(words[first : last + 1])):
                return _Thing(kind, True)
        if is_mark(_KIND + words[last]):
            # A kind of one word stands for all kinds of that noun: tool bags are bags.
            return _Thing(noun, True)
        only_noun = only_noun or _Thing(noun, False)
    return only_noun


def _words(text: str) -> list[str]:
    return [word for group in split_groups(text) for word in group]
