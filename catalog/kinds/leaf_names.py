"""Names of a catalog's leaf categories, one for each, and the attribute in which their products come in variants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from ecom_rlve.catalog.kinds.nouns import Leaf, before_thing, kind_words, word_set
from ecom_rlve.catalog.product import UNKNOWN_KIND, Category
from ecom_rlve.catalog.shop_words.phrases import Phrases, fold_words

UNKNOWN = Leaf(("Other", UNKNOWN_KIND.capitalize()), "other item", UNKNOWN_KIND, "other")
"""The leaf of every product of which no field names a thing."""
MAX_NAMED = 0.1
"""An attribute that more than this share of a leaf's titles name is not the one in which its products vary."""


def unique_names(leaves: Iterable[Leaf]) -> dict[Leaf, Leaf]:
    """Return for every distinct leaf the one to use. What has the same name is one category, except for other people.

    >>> names = unique_names(Leaf((who, "Dresses"), "dress", "dresses", "Clothing") for who in ("Women", "Girls"))
    >>> sorted(leaf.plural for leaf in names.values())
    ["girls' dresses", "women's dresses"]
    """
    namesakes: dict[str, list[Leaf]] = {}
    for leaf in sorted(set(leaves)):
        namesakes.setdefault(leaf.plural, []).append(leaf)
    used = {same[0].plural: same[0] for same in namesakes.values() if len(_audiences(same)) == 1}
    chosen: dict[Leaf, Leaf] = {}
    for same in namesakes.values():
        is_mixed = len(_audiences(same)) > 1
        for leaf in same:
            named = _prefixed(leaf, audience_of(leaf.path)) if is_mixed else same[0]
            chosen[leaf] = used.setdefault(named.plural, named)
    return chosen


def audience_of(path: Sequence[str]) -> str:
    """Return for whom a category path says its products are: "women's", "dog"; empty where it does not."""
    audiences: dict[str, str] = kind_words()["audiences"]
    return next((audiences[name] for name in map(str.casefold, reversed(path)) if name in audiences), "")


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
        phrases = _phrases(tuple(values_of(category, attribute)))
        shares[attribute] = sum(bool(phrases.find(title)) for title in words) / max(1, len(words))
        if shares[attribute] <= MAX_NAMED:
            break
    chosen = min(shares, key=lambda attribute: (max(shares[attribute], MAX_NAMED), priority.index(attribute)))
    return Category(leaf.plural, leaf.path, spoken(leaf.singular), spoken(leaf.plural), chosen)


def spoken(name: str) -> str:
    """Return a lower-case name as it is written in a sentence.

    >>> spoken("usb flash drive")
    'USB flash drive'
    """
    return " ".join(word.upper() if word in word_set("acronyms") else word for word in name.split(" "))


def variant_priority(leaf: Leaf) -> tuple[str, ...]:
    """Return the attributes in which products of this leaf may come in variants, the most natural first."""
    table = kind_words()["variant_attributes"]
    return tuple(table.get(leaf.family, table["other"]))


@lru_cache(maxsize=1024)
def _phrases(values: tuple[str, ...]) -> Phrases[None]:
    """Return a vocabulary; thousands of leaves share a few."""
    return Phrases((value, None) for value in values)


def _audiences(same: Iterable[Leaf]) -> set[str]:
    return {audience_of(leaf.path) for leaf in same}


def _prefixed(leaf: Leaf, prefix: str) -> Leaf:
    if not prefix or leaf.plural.startswith(f"{prefix} "):
        return leaf
    return leaf._replace(singular=before_thing(leaf.singular, prefix), plural=f"{prefix} {leaf.plural}")
