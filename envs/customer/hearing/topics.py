"""What a customer can be asked about, and what they have in mind of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, Protocol

from ecom_rlve.envs.customer.hearing.question_words import PHRASES, Phrases


class Values(Protocol):
    """Finds attributes by their values."""

    def get(self, words: str, /) -> tuple[str, ...] | None:
        """Return the attributes (or ``brand``) that have this casefolded value, if any have."""


class InMind(NamedTuple):
    """One fact that a customer could tell."""

    item: int | None
    """None: it is about all items together."""
    names: tuple[str, ...]
    """Names by which a question may ask for it: of its slot and its attribute."""
    is_said: bool


class Question(NamedTuple):
    """What one part of a sentence asks for."""

    item: int | None
    """None if no item is named nearby."""
    topics: tuple[str, ...]
    """The whole set of topics that it may mean, likeliest first."""
    is_torn: bool = False
    """Several unsaid ones of the set are about equally likely, and nothing else tells which is meant."""


@dataclass(frozen=True, slots=True)
class Topics:
    """What this customer can be asked about."""

    items: tuple[tuple[str, str], ...]
    """Singular and plural of each wanted item, in goal order."""
    value_index: Values
    """Only asked for single values: it may be too large to iterate over."""
    products: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Casefolded titles and ids of products → the products, numbered from the number of items on. They are only looked
    for in messages that may say that something is sold out, and may be absent for others."""
    phrases: Phrases = field(default_factory=lambda: PHRASES)
    """Phrases for what questions may ask; :func:`with_kinds` adds an environment's own kinds of facts."""
    in_mind: tuple[InMind, ...] = ()
    """The facts that the customer could tell. Without any, questions are read by their words alone."""
    possible: frozenset[str] = frozenset()
    """The topics that a question to such a customer may be for, in mind or not."""
    whole: frozenset[int] = frozenset()
    """Items that stand for all the others together: who names them asks of any."""
    choices: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Kinds of facts whose values are topics: "price or rating?" asks what matters most."""
    offered: tuple[Question, ...] = ()
    """What the customer has just offered to mean: "the colour or the size?"."""

    def names(self, item: int | None, *, is_said: bool | None = None) -> frozenset[str]:
        """Return the names of what is in mind about an item; None: about any. ``is_said``: only of that kind."""
        return _names(self.in_mind, self.whole, item, is_said)

    def holds_unsaid(self, item: int | None, topics: Collection[str]) -> bool:
        """Tell whether something unsaid about the item is among the topics."""
        return not self.names(item, is_said=False).isdisjoint(topics)

    def holds(self, item: int | None, topics: Collection[str]) -> bool:
        """Tell whether anything about the item is among the topics."""
        return not self.names(item).isdisjoint(topics)


@lru_cache(maxsize=256)
def _names(
    in_mind: tuple[InMind, ...], whole: frozenset[int], item: int | None, is_said: bool | None
) -> frozenset[str]:
    return frozenset(
        name
        for each in in_mind
        if is_about(each.item, item, whole) and is_said in (None, each.is_said)
        for name in each.names
    )


def is_about(of: int | None, item: int | None, whole: Collection[int] = ()) -> bool:
    """Tell whether a fact of one item (None: of all together) is meant by a question that names another (None: any)."""
    return of is None or item is None or item in whole or of == item
