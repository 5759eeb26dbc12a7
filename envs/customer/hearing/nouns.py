"""Finds the wanted items in an agent's sentence: by their nouns, by the last word of a noun, or by a marked title."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ecom_rlve.catalog.shop_words.currencies import AMOUNT
from ecom_rlve.envs.customer.hearing.claims import ITEM_MARK
from ecom_rlve.envs.customer.hearing.question_words import PHRASES

# A slash stands within a word after a digit ("24/7"), else between two ("app/web/phone?").
_TOKEN = re.compile(rf"{AMOUNT}|\w+(?:(?:[-'.&]|(?<=\d)/)\w+)*|[,;:()—–]|" + ITEM_MARK + r"\d+")
# Last words of nouns that often mean something else when they stand alone: "in case", "on top of that", "all set".
_VAGUE_HEADS = frozenset(
    ("case", "set", "top", "light", "stand", "cover", "watch", "ring", "band", "rest", "kit", "pack", "order", "item")
)


Nouns = Mapping[str, tuple[tuple[tuple[str, ...], tuple[int, ...]], ...]]
"""Phrases that name items, each with these items. Keyed by a phrase's first word; longest phrases first."""


def words_of(text: str) -> list[str]:
    """Return the words, item marks and clause breaks of a casefolded text; possessive endings are removed."""
    tokens: list[str] = _TOKEN.findall(text)
    if "'s" in text:
        return [token.removesuffix("'s") for token in tokens]
    return tokens


@lru_cache(maxsize=4096)
def nouns_of(items: tuple[tuple[str, str], ...]) -> Nouns:
    """Return the phrases for items given as (singular, plural). A noun's last word names its item if it is unique."""
    named: dict[tuple[str, ...], dict[int, None]] = {}
    heads: dict[tuple[str, ...], dict[int, None]] = {}
    for item, forms in enumerate(items):
        for form in forms:
            words = tuple(words_of(form.casefold()))
            if words:
                named.setdefault(words, {})[item] = None
                heads.setdefault(words[-1:], {})[item] = None
    for head, owners in heads.items():
        word = head[0]
        if len(owners) == 1 and word not in PHRASES and word.removesuffix("s") not in _VAGUE_HEADS:
            named.setdefault(head, owners)
    grouped: dict[str, list[tuple[tuple[str, ...], tuple[int, ...]]]] = {}
    for words in sorted(named, key=len, reverse=True):
        grouped.setdefault(words[0], []).append((words, tuple(named[words])))
    return {word: tuple(entries) for word, entries in grouped.items()}


def item_at(tokens: Sequence[str], at: int, nouns: Nouns) -> tuple[tuple[int, ...], int]:
    """Return the items named at a token, and how many tokens name them; ``(), 0`` if none is named."""
    token = tokens[at]
    if token[0] == ITEM_MARK:
        return (int(token[1:]),), 1
    for words, items in nouns.get(token, ()):
        if len(words) == 1 or tuple(tokens[at : at + len(words)]) == words:
            return items, len(words)
    return (), 0


def items_in(tokens: Sequence[str], nouns: Nouns) -> tuple[int, ...]:
    """Return every item that the tokens name, in order, including repeats."""
    found: list[int] = []
    at = 0
    while at < len(tokens):
        length = 0
        if tokens[at] in nouns or tokens[at][0] == ITEM_MARK:
            items, length = item_at(tokens, at, nouns)
            found += items
        at += length or 1
    return tuple(found)
