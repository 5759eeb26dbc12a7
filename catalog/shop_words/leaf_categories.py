"""Leaf categories for products whose source has none: the thing that a title names, from a curated list of nouns.

A title is cut into parts at punctuation and before words that begin a complement ("for", "with", "compatible" …). The
first part that names a product decides; complements are read only if no other part names one. A noun is one of the
phrases of ``data/product_nouns.json``; reading goes from left to right and takes the longest phrase at each place. In
the deciding part the most specific noun wins: the one of higher rank, then of more words, then the later one (the head
of an English noun phrase is its last word). Nouns of rank 2 say what their neighbours are for ("hat rack", "shoe
tree"). Nouns of rank 0 are mostly modifiers ("stone", "suit"); a noun in any other part wins against them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from ecom_rlve.catalog.product import Category
from ecom_rlve.catalog.shop_words.inflection import looks_plural, plural, singular
from ecom_rlve.catalog.shop_words.phrases import Phrases, fold_words

MAX_NAMED = 0.1
"""An attribute that more than this share of a leaf's titles name is not the one in which its products vary."""
MAX_SENTENCES = 6
"""Only so many sentences of a description are read: the first say what a thing is, later ones what goes with it."""

_BREAK = re.compile(r"[,;:|!?/()\[\]{}【】（），；：、…–—~“”\"]|\.(?=\s|$)|-(?=\s)|(?<=\s)-")
_COMPLEMENTS = frozenset(
    ("for", "with", "w", "without", "by", "in", "from", "to", "that", "fits", "compatible", "featuring", "including")
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|[A-Z])")
_OTHER = "other"
_PEOPLE = {"women": "women's", "men": "men's", "girls": "girls'", "boys": "boys'", "baby": "baby", "kids": "kids'"}
_GENERIC_HEADS = frozenset(
    (*_PEOPLE, "accessories", "sets", "kits", "parts", "products", "supplies", "more", "other", "others", "misc")
)
_QUANTIFIER = re.compile(r"(?:pair|pack|set|sheet|piece)s? of ")


class Leaf(NamedTuple):
    """The leaf category of one product, before names are made unique over a catalog."""

    path: tuple[str, ...]
    """From the department down to the leaf, as shown to people."""
    singular: str
    plural: str
    family: str
    """Which priority of variant attributes applies: a key of ``variant_attributes`` in the noun list."""


class _Noun(NamedTuple):
    rank: int
    leaf: Leaf


def leaf_and_origin(
    title: str, categories: Sequence[str], main_category: str | None, description: str = ""
) -> tuple[Leaf, str]:
    """Return the leaf category of a product, and which of the arguments decided it.

    The first of these that names a thing decides: the source's own path, the title, a main category that is no known
    department ("Bracelet"), the description's first sentences. Otherwise it is the main category's catch-all.
    """
    path = [element.strip() for element in categories if element.strip()]
    if path:
        return leaf_of_path(path), "categories"
    label = main_category or ""
    for origin, text in (("title", title), ("main_category", "" if _is_department(label) else label)):
        leaf = leaf_of_title(text) if text else None
        if leaf:
            return leaf, origin
    for sentence in _SENTENCE_END.split(description)[:MAX_SENTENCES]:
        noun = _deciding_noun(sentence)
        if noun and noun.rank:
            return noun.leaf, "description"
    return catch_all(main_category), "main_category"


def leaf_of_title(title: str) -> Leaf | None:
    """Return the leaf that the title names by the rule above; None where it names nothing in the list.

    >>> leaf_of_title("Kids Sunglasses Black Vintage Shades for Children").plural
    'sunglasses'
    """
    noun = _deciding_noun(title)
    return noun.leaf if noun else None


def leaf_of_path(path: Sequence[str]) -> Leaf:
    """Return the leaf of a source's own category path; a last part that names no thing is joined with its parent.

    >>> leaf_of_path(["Clothing", "Women", "Dresses", "Casual"]).plural
    'casual dresses'
    """
    names = [_spoken(element) for element in path]
    name = names[-1]
    if len(names) > 1 and not _names_a_thing(name):
        name = _with_parent(name, names[-2])
    noun = leaf_of_title(name)
    return Leaf(tuple(path), _singular_phrase(name), name, noun.family if noun else _OTHER)


def catch_all(main_category: str | None) -> Leaf:
    """Return the leaf for products of which only the main category is known."""
    main = " ".join((main_category or "").split())
    names = _file()["catch_all"].get(main.casefold())
    if names is None:
        stem = _singular_of_one(re.sub(r"^(?:amazon|all) ", "", _spoken(main)))
        names = {"singular": f"{stem} item", "plural": f"{stem} items"}
    shown = main.title() if main.isupper() else main
    return Leaf((shown or "General", names["plural"].capitalize()), names["singular"], names["plural"], _OTHER)


def unique_names(leaves: Iterable[Leaf]) -> dict[Leaf, Leaf]:
    """Return for every distinct leaf the one to use. Leaves of the same name get what distinguishes them put in front.

    >>> names = unique_names(Leaf((who, "Dresses"), "dress", "dresses", "other") for who in ("Women", "Girls"))
    >>> sorted(leaf.plural for leaf in names.values())
    ["girls' dresses", "women's dresses"]
    """
    namesakes: dict[str, list[Leaf]] = {}
    for leaf in sorted(set(leaves)):
        namesakes.setdefault(leaf.plural, []).append(leaf)
    used = {same[0].plural: same[0] for same in namesakes.values() if len(same) == 1}
    chosen = {leaf: leaf for leaf in used.values()}
    for same in namesakes.values():
        for leaf in same if len(same) > 1 else ():
            options = [_told_apart(leaf, prefix) for prefix in _distinctions(leaf, same)]
            free = [option for option in options if option.plural not in used]
            # If even the whole path is taken, both are spoken of in the same way and become one category.
            chosen[leaf] = free[0] if free else used[options[-1].plural]
            used.setdefault(chosen[leaf].plural, chosen[leaf])
    return chosen


def category_of(leaf: Leaf, titles: Sequence[str], values_of: Callable[[Category, str], Iterable[str]]) -> Category:
    """Return the category of a leaf, with the attribute in which its products come in variants.

    That is the first attribute in the priority of its family that at most ``MAX_NAMED`` of the titles name; if there is
    none, the one that they name least. ``values_of`` returns the values of an attribute for products of a category.
    """
    priority = variant_priority(leaf)
    category = Category(leaf.plural, leaf.path, leaf.singular, leaf.plural, priority[0])
    words = [fold_words(title) for title in titles]
    shares: dict[str, float] = {}
    for attribute in priority:
        phrases = Phrases((value, None) for value in values_of(category, attribute))
        shares[attribute] = sum(bool(phrases.find(title)) for title in words) / max(1, len(words))
        if shares[attribute] <= MAX_NAMED:
            break
    chosen = min(shares, key=lambda attribute: (max(shares[attribute], MAX_NAMED), priority.index(attribute)))
    return Category(leaf.plural, leaf.path, leaf.singular, leaf.plural, chosen)


def variant_priority(leaf: Leaf) -> tuple[str, ...]:
    """Return the attributes in which products of this leaf may come in variants, the most natural first."""
    table = _file()["variant_attributes"]
    return tuple(table.get(leaf.family, table[_OTHER]))


def _is_department(main_category: str) -> bool:
    return " ".join(main_category.casefold().split()) in _file()["catch_all"]


def _deciding_noun(title: str) -> _Noun | None:
    for parts in _parts(title):
        found = [nouns for nouns in map(_nouns().find, parts) if nouns]
        firm = [nouns for nouns in found if any(noun.value.rank for noun in nouns)]
        for nouns in (firm or found)[:1]:
            return max(nouns, key=lambda noun: (noun.value.rank, noun.words, noun.at)).value
    return None


def _distinctions(leaf: Leaf, same: Sequence[Leaf]) -> list[str]:
    """Return what may go before a leaf's name: ancestors that no namesake has, the nearest first; nothing; all."""
    others = [other.path for other in same if other != leaf]
    own = [element for element in reversed(leaf.path[:-1]) if not any(element in path for path in others)]
    spoken = [_spoken(element) for element in own]
    return [*(_PEOPLE.get(name, name) for name in spoken), "", " ".join(map(_spoken, leaf.path[:-1]))]


def _told_apart(leaf: Leaf, prefix: str) -> Leaf:
    if not prefix:
        return leaf
    quantifier = _QUANTIFIER.match(leaf.singular)
    thing = leaf.singular[quantifier.end() :] if quantifier else leaf.singular
    one = f"{quantifier[0] if quantifier else ''}{prefix} {thing}"
    return leaf._replace(singular=one, plural=f"{prefix} {leaf.plural}")


def _parts(title: str) -> tuple[list[list[str]], list[list[str]]]:
    """Cut a title into parts of words; return those before any complement, and the complements."""
    plain: list[list[str]] = []
    complements: list[list[str]] = []
    for chunk in _BREAK.split(title):
        part: list[str] = []
        plain.append(part)
        for word in fold_words(chunk):
            if word in _COMPLEMENTS:
                part = []
                complements.append(part)
            else:
                part.append(word)
    return plain, complements


@cache
def _file() -> dict[str, Any]:
    text = resources.files("ecom_rlve.catalog.data").joinpath("product_nouns.json").read_text("utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


@cache
def _nouns() -> Phrases[_Noun]:
    return Phrases(_noun_forms())


def _noun_forms() -> Iterator[tuple[str, _Noun]]:
    for department, entries in _file()["departments"].items():
        for entry in entries:
            bare = _QUANTIFIER.sub("", entry["singular"])
            several = entry.get("plural", plural(bare))
            leaf = Leaf((department, several.capitalize()), entry["singular"], several, department)
            noun = _Noun(entry.get("rank", 1), leaf)
            for form in (bare, several, *entry.get("also", ())):
                yield form, noun
                yield plural(form), noun


def _spoken(element: str) -> str:
    return " ".join(element.replace("&", " and ").casefold().split())


def _names_a_thing(phrase: str) -> bool:
    if phrase in _GENERIC_HEADS:
        return False
    return looks_plural(phrase.split()[-1]) or leaf_of_title(phrase) is not None


def _with_parent(ending: str, parent: str) -> str:
    if ending in _GENERIC_HEADS:
        return f"{_PEOPLE[ending]} {parent}" if ending in _PEOPLE else f"{parent} {ending}"
    return f"{ending} {parent}" if _names_a_thing(parent) else ending


def _singular_phrase(name: str) -> str:
    parts = [_singular_of_one(part) for part in re.split(r", (?:and )?| and ", name) if part]
    return " or ".join(filter(None, [", ".join(parts[:-1]), parts[-1]])) if parts else name


def _singular_of_one(name: str) -> str:
    *modifiers, head = name.split()
    known = [noun.value.leaf.singular for noun in _nouns().find([head])]
    quantifier = _QUANTIFIER.match(known[0]) if known else None
    return f"{quantifier[0]}{name}" if quantifier else " ".join([*modifiers, singular(head)])
