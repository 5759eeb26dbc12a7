"""The nouns that name what shops sell: some thousands, by trade, in ``data/nouns/*.txt``.

A line ``[Family]`` begins a family. Entries end at a semicolon or a line's end::

    pair of boots / boots = ankle boot, bootie

that is the name of one thing, the name of several where it is not the regular plural, and other words for the same
thing. Every word is found in the singular and in the plural. A mark before the name says how far to trust it alone:

``~``
    mostly a modifier or part of a name ("top", "ring", "sign"): counts where nothing firmer does
``*``
    a general noun that says little alone ("case", "rack"): a noun right before it belongs to it ("hat rack")
``!``
    no thing at all although its last word is one ("coat of arms")
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Any, NamedTuple

from ecom_rlve.catalog.shop_words.inflection import plural
from ecom_rlve.catalog.shop_words.phrases import fold_words

_MEASURE = re.compile(
    r"(?:pair|pack|set|sheet|piece|bag|box|bottle|jar|can|tube|bar|roll|loaf|ream|skein|pad|carton) of "
)
_MARKS = ("~", "*", "!")


class Leaf(NamedTuple):
    """The leaf category of one product, before names are made unique over a catalog."""

    path: tuple[str, ...]
    """From the department down to the leaf, as shown to people."""
    singular: str
    plural: str
    family: str
    """Which priority of variant attributes applies: a key of ``variant_attributes`` in ``data/kind_words.json``."""


class Noun(NamedTuple):
    """One thing that shops sell."""

    leaf: Leaf
    mark: str
    """``~`` for mostly a modifier, ``*`` for a general noun, ``!`` for no thing, else empty."""


class Ending(NamedTuple):
    """A noun at the end of some words."""

    at: int
    """Place of its first word."""
    noun: Noun


def bare(singular: str) -> str:
    """Return the name of one thing without its measure.

    >>> bare("pair of jeans"), bare("chest of drawers")
    ('jeans', 'chest of drawers')
    """
    return _MEASURE.sub("", singular, count=1)


def measure(singular: str) -> str:
    """Return the measure of a name, with the "of" after it; empty where there is none."""
    found = _MEASURE.match(singular)
    return found[0] if found else ""


def before_thing(singular: str, word: str) -> str:
    """Return the name of one thing with a word before it, after its measure.

    >>> before_thing("pair of jeans", "women's")
    "pair of women's jeans"
    """
    return f"{measure(singular)}{word} {bare(singular)}"


def noun_ending(words: Sequence[str], stop: int) -> Ending | None:
    """Return the longest noun whose last word stands right before ``stop``, None where there is none.

    >>> noun_ending("red wine glass".split(), 3).noun.leaf.plural
    'wine glasses'
    """
    known = _nouns()
    for length in known.lengths.get(words[stop - 1], ()) if stop else ():
        noun = known.by_phrase.get(" ".join(words[stop - length : stop])) if length <= stop else None
        if noun is not None:
            return Ending(stop - length, noun)
    return None


@lru_cache(maxsize=4096)
def noun_of(phrase: str) -> Noun | None:
    """Return the noun that a whole phrase is, in any of its forms; None where it is none."""
    words = fold_words(phrase)
    ending = noun_ending(words, len(words))
    return ending.noun if ending and not ending.at else None


@cache
def kind_words() -> dict[str, Any]:
    """Return ``data/kind_words.json``: other words of titles and categories, and what families have variants in."""
    text = resources.files("ecom_rlve.catalog.data").joinpath("kind_words.json").read_text("utf-8")
    words: dict[str, Any] = json.loads(text)
    return words


@cache
def word_set(name: str) -> frozenset[str]:
    """Return one of the lists of words in ``data/kind_words.json``."""
    return frozenset(kind_words()[name].split())


class _Nouns(NamedTuple):
    by_phrase: dict[str, Noun]
    lengths: dict[str, tuple[int, ...]]
    """By the last word of a phrase: how many words such phrases have, the most first."""


@cache
def _nouns() -> _Nouns:
    by_phrase: dict[str, Noun] = {}
    lengths: dict[str, set[int]] = {}
    for form, noun in _forms():
        words = fold_words(form)
        lengths.setdefault(words[-1], set()).add(len(words))
        if by_phrase.setdefault(" ".join(words), noun) != noun:
            raise ValueError(f"{form!r} stands in the lists of nouns for two things")
    return _Nouns(by_phrase, {last: tuple(sorted(found, reverse=True)) for last, found in lengths.items()})


def _forms() -> Iterator[tuple[str, Noun]]:
    for family, entry in _entries():
        mark = entry[0] if entry[0] in _MARKS else ""
        names, _, others = entry.removeprefix(mark).partition("=")
        one, _, several = (name.strip() for name in names.partition(" / "))
        thing = bare(one)
        several = several or plural(thing)
        noun = Noun(Leaf((family, several.capitalize()), one, several, family), mark)
        for form in (thing, several, *filter(None, map(str.strip, others.split(",")))):
            yield form, noun
            yield plural(form), noun


def _entries() -> Iterator[tuple[str, str]]:
    folder = resources.files("ecom_rlve.catalog.data.nouns")
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".txt"):
            yield from _entries_of(file.read_text("utf-8"))


def _entries_of(text: str) -> Iterator[tuple[str, str]]:
    family = ""
    for line in text.splitlines():
        if line.startswith("["):
            family = line.strip("[] ")
        elif line and not line.startswith("#"):
            yield from ((family, entry.strip()) for entry in line.split(";") if entry.strip())
