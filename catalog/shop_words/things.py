"""Which things a query names, by the kinds of the catalog: an apple watch band is a band, a case for glasses is a case.

A product bears marks, which are words that no text has: one of its kind, and one of the noun of that kind. A query that
names the kind, or only the noun, looks for the mark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ecom_rlve.catalog.shop_words.asking import Asking
from ecom_rlve.catalog.shop_words.splitting import split_groups

_KIND, _NOUN = "=", "~"
_MOST_WORDS = 5
"""Words in the name of a kind."""


def marks_of_kind(kind: str) -> tuple[str, ...]:
    """Return the marks of the products of a kind, singular or plural.

    >>> marks_of_kind("tool bags"), marks_of_kind("?")
    (('=tool bag', '~bag'), ())
    """
    words = _words(kind)
    return (_KIND + " ".join(words), _NOUN + words[-1]) if words else ()


def things_named(asking: Asking, is_mark: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the marks of the things that a query names; ``is_mark`` tells whether products bear a mark.

    Of words that follow each other the last ones name the thing. In a sentence, what comes after "for", "with" and the
    like only describes what stands before. If there is no kind whose whole name is said, the first noun counts.

    >>> from ecom_rlve.catalog.shop_words.asking import read_query
    >>> marks = {"=watch", "~watch", "=watch band", "~band", "=tool bag", "~bag"}
    >>> things_named(read_query("A watch band for my watch, and a tool bag."), marks.__contains__)
    ('=watch band', '=tool bag')
    >>> things_named(read_query("bags"), marks.__contains__)
    ('~bag',)
    """
    kinds, nouns = [], []
    for sentence in asking.sentences:
        for clause in sentence:
            kind, noun = _last_thing(clause, is_mark)
            if kind:
                kinds.append(kind)
            elif noun:
                nouns.append(noun)
            if kind or noun:
                break
    return tuple(dict.fromkeys(kinds)) or tuple(nouns[:1])


def _last_thing(words: Sequence[str], is_mark: Callable[[str], bool]) -> tuple[str, str]:
    """Return the mark of the last thing that the words name by its kind, and of the last one named by its noun only."""
    only_noun = ""
    for last in range(len(words) - 1, -1, -1):
        noun = _NOUN + words[last]
        if not is_mark(noun):
            continue
        for first in range(max(0, last + 1 - _MOST_WORDS), last):
            if is_mark(kind := _KIND + " ".join(words[first : last + 1])):
                return kind, only_noun
        if is_mark(_KIND + words[last]):
            # A kind of one word stands for all kinds of that noun: tool bags are bags.
            return noun, only_noun
        only_noun = only_noun or noun
    return "", only_noun


def _words(text: str) -> list[str]:
    return [word for group in split_groups(text) for word in group]
