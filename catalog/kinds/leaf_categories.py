"""The kind of thing that a product is: from its category path, its label or the head noun of its title.

A kind is a thing that one can buy. A path names one if its last element does ("Bath Rugs"), or one further up and
those below only narrow it ("Tea > Black"). "Shirts & Tops", "For Him" and "Accessories" name none. The title names one
by its head noun. Where both do, the more exact one counts, or none if they contradict each other. Words of descriptions
never make a kind. A product without any is of the unknown kind: it can be found, and nobody wants it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ecom_rlve.catalog.kinds.leaf_names import UNKNOWN, audience_of
from ecom_rlve.catalog.kinds.nouns import (
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
from ecom_rlve.catalog.kinds.title_heads import TitleHead, head_of_title, inner_nouns, lacks_cue
from ecom_rlve.catalog.shop_words.inflection import looks_plural, plural, singular
from ecom_rlve.catalog.shop_words.phrases import fold_words

_MOST_WORDS = 4
"""A category of more words is no name to say; its noun is."""
_LONGEST_PATH, _LONGEST_ELEMENT = 20, 200
"""A path of more elements, or with one of more characters, is none: a listing or a text stands in its place."""
_JOINT = re.compile(r"\s*(?:,|/|&|\band\b|\bor\b)\s*")
_COMPLEMENT = re.compile(r"\s(?:for|with|by|from|in|under)\s")
_TITLED_FREELY = ("Books", "Media")
"""Families whose titles are no descriptions, so that their categories decide whatever lies below."""


class _Element(NamedTuple):
    """What one element of a path names."""

    leaf: Leaf | None
    """The thing, if it is one."""
    nouns: tuple[Noun, ...]
    """All things it names."""
    is_generic: bool
    """Whether it names things of no kind: "Accessories"."""


def leaf_and_origin(title: str, categories: Sequence[str], main_category: str | None) -> tuple[Leaf, str]:
    """Return the kind of a product, and which of the arguments decided it; :data:`UNKNOWN` and "" where none does."""
    path = [element.strip() for element in categories if element.strip()]
    label = " ".join((main_category or "").split())
    source = "categories" if path else "main_category"
    if not path and label and not is_department(label):
        path = [label]
    leaf, named = leaf_of_path(path), head_of_title(title)
    if leaf is None:
        return (named.leaf, "title") if named else (UNKNOWN, "")
    if _path_decides(leaf, named, title):
        return leaf, source
    return (named.leaf, "title") if named and _is_more_exact(named, leaf) else (UNKNOWN, "")


def leaf_of_path(path: Sequence[str]) -> Leaf | None:
    """Return the kind that a category path names by itself; None where it names none, or several.

    >>> leaf_of_path(["Home", "Kitchen Rugs"]).singular
    'kitchen rug'
    """
    if len(path) > _LONGEST_PATH or any(len(element) > _LONGEST_ELEMENT for element in path):
        return None
    is_open = True
    for at in range(len(path) - 1, -1, -1):
        element = _read(path[: at + 1])
        if element.leaf is not None and (is_open or element.leaf.family in _TITLED_FREELY):
            people = [below for below in path[at + 1 :] if below.casefold() in kind_words()["audiences"]]
            return element.leaf._replace(path=(*element.leaf.path, *people))
        is_open = is_open and not element.nouns and not element.is_generic and _is_qualifier(path[at])
    return None


def is_department(label: str) -> bool:
    """Say whether a label is a department of a large shop, not a kind of thing."""
    return " ".join(label.replace("&", "and").casefold().split()) in kind_words()["departments"]


def _path_decides(leaf: Leaf, named: TitleHead | None, title: str) -> bool:
    if leaf.family in _TITLED_FREELY:
        return True
    if named is None or not named.is_firm:
        others = inner_nouns(title)
        return not others or any(_last_word(other) == _last_word(leaf) for other in others)
    one = bare(named.leaf.singular)
    return one == bare(leaf.singular) or bare(leaf.singular).endswith(f" {one}")


def _is_more_exact(named: TitleHead, leaf: Leaf) -> bool:
    """Say whether a title may name another thing than its category: one of the same trade, or one for such things.

    A projector screen may lie among projectors. Other contradictions decide nothing.
    """
    return named.is_firm and (named.leaf.family == leaf.family or _last_word(leaf) in map(singular, named.words))


def _last_word(leaf: Leaf) -> str:
    return singular(bare(leaf.singular).split()[-1])


def _is_qualifier(element: str) -> bool:
    """Say whether an element only narrows its parent: "Women", "Casual", "Black"."""
    words = fold_words(element)
    return element.casefold() in kind_words()["audiences"] or all(is_plain(words, at) for at in range(len(words)))


def _read(path: Sequence[str]) -> _Element:
    """Read the last element of a path."""
    text = _COMPLEMENT.split(" ".join(path[-1].casefold().split()))[0]
    if text in kind_words()["audiences"]:
        return _Element(None, (), False)
    context = fold_words(" ".join(path))
    pieces = [_noun_at_end(piece, context) for piece in _JOINT.split(text) if piece]
    whole = _noun_at_end(text.replace("&", "and"), context)
    is_generic = any(word in word_set("no_kind") for word in fold_words(text)[-1:])
    if whole is not None and (len(pieces) == 1 or " and " in bare(whole.leaf.singular)):
        return _Element(_named(path, text, whole), (whole,), is_generic)
    found = tuple(noun for noun in pieces if noun is not None)
    if len(pieces) > 1 and len({noun.leaf for noun in found}) == 1 and len(found) == len(pieces):
        return _Element(_named(path, found[0].leaf.plural, found[0]), found, is_generic)
    return _Element(None, found, is_generic)


def _noun_at_end(text: str, context: Sequence[str]) -> Noun | None:
    words = fold_words(text)
    ending = noun_ending(words, len(words))
    if ending is None or ending.noun.mark == "!" or lacks_cue([*words, *context], ending.at, len(words)):
        return None
    length = len(words) - ending.at
    # The end of a hyphenated word is no noun of its own: "french-door".
    is_part = length < len(fold_words(text.split()[-1]))
    return None if is_part or (length == 1 and words[-1] in word_set("no_kind")) else ending.noun


def _named(path: Sequence[str], text: str, noun: Noun) -> Leaf | None:
    """Return the leaf of an element that names a thing.

    Its name is the element's. It is the noun's if the element is one of the noun's forms, too long to say, or begins
    with words that may be a brand's; a noun that says little alone then names nothing.
    """
    words = re.sub(r"[^\w\s'’-]", " ", text).split()
    while len(words) > 1 and words[0] in word_set("leading"):
        words = words[1:]
    if noun_of(" ".join(words)) == noun:
        one, several = noun.leaf.singular, noun.leaf.plural
    elif len(words) > _MOST_WORDS or not _are_known(fold_words(" ".join(words))):
        if noun.mark:
            return None
        one, several = noun.leaf.singular, noun.leaf.plural
    else:
        one, several = _whole_name(words, noun)
    # A label alone is no department.
    shown = tuple(path) if len(path) > 1 else (noun.leaf.family, several.capitalize())
    leaf = Leaf(shown, one, several, noun.leaf.family)
    audience = audience_of(path)
    return _for_animals(leaf, audience) if audience in word_set("animals") else leaf


def _are_known(words: Sequence[str]) -> bool:
    """Say whether all words before the noun at the end are plain, nouns, or say what such things are for."""
    ending = noun_ending(words, len(words))
    known = word_set("modifiers")
    return ending is not None and all(
        (is_plain(words, at) and not is_number(words[at]))
        or words[at] in known
        or noun_ending(words[: at + 1], at + 1) is not None
        for at in range(ending.at)
    )


def _whole_name(words: Sequence[str], noun: Noun) -> tuple[str, str]:
    counted, last = measure(noun.leaf.singular), bare(noun.leaf.singular).split()[-1]
    is_several = looks_plural(words[-1]) or (counted and last == words[-1])
    several = " ".join(words) if is_several else plural(" ".join(words))
    return f"{counted}{several}" if counted else " ".join([*words[:-1], singular(words[-1])]), several


def _for_animals(leaf: Leaf, animal: str) -> Leaf:
    if leaf.family == "Pets" or leaf.plural.startswith(f"{animal} "):
        return leaf
    return Leaf(leaf.path, before_thing(leaf.singular, animal), f"{animal} {leaf.plural}", "Pets")
