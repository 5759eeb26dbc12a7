"""The facts that a text must say, and the ways to spell each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from rapidfuzz.distance import OSA

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.constraints import Op, words
from ecom_rlve.envs.customer.check.lexicon import names_of_fact, names_of_kind
from ecom_rlve.envs.customer.check.sheet import folded, phrases_in
from ecom_rlve.envs.language.acts import Fact, Mention
from ecom_rlve.envs.language.phrases import LABELS, excluding_words, spellings

NAMES = frozenset(label.casefold() for label in LABELS.values())
"""What facts are called. A name may also be a value: "price", if the price matters most."""
FUZZY_LETTERS = 6
"""A value with fewer letters must be spelled exactly; a longer one may have one typing error."""
_SPELLED_OTHERWISE = (("colour", "color"), ("grey", "gray"), ("fibre", "fiber"), ("aluminium", "aluminum"))
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One fact that the text must say."""

    thing: str
    """The noun of the thing that the fact is about, folded; empty if the text need not name it."""
    fact: Fact
    spelled: tuple[str, ...]
    """Its spellings, folded, longest first."""
    shape: str
    """What the value looks like: ``word``, ``phrase`` (a range or an exclusion, said with the words that make it one),
    ``count``, ``need``, or for numbers the unit, ``$``, ``day`` or ``number``. Only facts of one shape can be mistaken
    for each other."""

    @property
    def exactly(self) -> str:
        """The value as it may stand in a text, with its direction: ``at most $30.00``."""
        said, op = spellings(self.fact)[0], self.fact.constraint.op
        if op is Op.NONE_OF:
            return f"anything but {said}"
        if self.shape in ("word", "phrase", "count", "need") or self.fact.spelled:
            return said
        return {Op.AT_MOST: "at most ", Op.AT_LEAST: "at least "}.get(op, "") + said

    @property
    def label(self) -> str:
        """What a person calls the attribute or kind of the fact."""
        return _label_of(self.fact)

    @property
    def demand(self) -> str:
        """What the text must say, in words for a retry."""
        if self.shape == "count":
            return f"'{self.exactly} {self.thing}'".replace(" '", "'")
        return f"'{self.exactly}' ({self.label}{f' of the {self.thing}' if self.thing else ''})"

    @property
    def needed(self) -> str:
        """For a fact of shape ``need``: the noun of the thing that is needed."""
        return folded(str(self.fact.constraint.value))


def wanted_of(mentions: Sequence[Mention]) -> tuple[Wanted, ...]:
    """Return the facts of the mentions in their order, each once."""
    pairs = dict.fromkeys((folded(mention.singular), fact) for mention in mentions for fact in mention.facts)
    return tuple(_wanted(thing, fact) for thing, fact in pairs)


def _wanted(thing: str, fact: Fact) -> Wanted:
    shape = shape_of(fact)
    if named := words(fact.constraint) if isinstance(fact.constraint.value, tuple) and not fact.spelled else ():
        values = [folded(value) for value in named]
        orders = permutations(values) if len(values) <= 3 else [tuple(values)]
        spelled = [" or ".join(order) for order in orders]
    else:
        spelled = [folded(text) for text in spellings(fact)]
    if fact.constraint.op is Op.NONE_OF:
        spelled = [f"{excluding} {text}" for excluding in excluding_words(fact) for text in spelled]
    if shape == "word":
        spelled += [text.replace("-", " ") for text in spelled] + [text.replace(" ", "-") for text in spelled]
        spelled += [text.replace(*pair) for text in spelled for way in _SPELLED_OTHERWISE for pair in (way, way[::-1])]
    return Wanted(thing, fact, tuple(sorted(dict.fromkeys(spelled), key=len, reverse=True)), shape)


def shape_of(fact: Fact) -> str:
    """Return what a fact's value looks like: see :attr:`Wanted.shape`."""
    value = fact.constraint.value
    if fact.slot == "quantity" and fact.kind is None:
        return "count"
    if fact.slot == "need":
        return "need"
    if fact.constraint.op in (Op.NONE_OF, Op.BETWEEN):
        return "phrase"
    if not fact.spelled and isinstance(value, str | tuple):
        return "word"
    said = spellings(fact)[0]
    if said.startswith("$"):
        return "$"
    if not fact.spelled:
        attribute = ATTRIBUTES.get(fact.constraint.attribute)
        return fact.unit or (attribute.unit if attribute else "") or fact.constraint.attribute
    return "number" if said.isdigit() else "day"


def is_slip(text: str, value: str, vocabulary: frozenset[str]) -> bool:
    """Tell whether a casefolded text is a value with one typing error, and not as near to another value.

    A typing error is an edit after the first letter: a letter is missing, added or wrong, or two letters are swapped.
    """
    if len(value) < FUZZY_LETTERS or text[:1] != value[:1] or abs(len(text) - len(value)) > 1 or text in vocabulary:
        return False
    if _DIGIT.findall(text) != _DIGIT.findall(value) or OSA.distance(text, value, score_cutoff=1) > 1:
        return False
    return not any(OSA.distance(text, other, score_cutoff=1) <= 1 for other in vocabulary if other != value)


def rivals_of(wanted: Wanted, alike: Sequence[Fact]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names that a value must not be called by, and the names of which the sentence must hold one.

    Either may be empty.
    """
    kind = wanted.fact.kind
    if wanted.shape in ("word", "phrase", "count", "need"):
        labels = _other_labels(wanted, alike) if wanted.shape == "word" else ()
        # A value that is the name of a fact ("price") must come with words of its kind: those for what matters most.
        return labels, tuple(sorted(names_of_kind(kind))) if kind and NAMES.intersection(wanted.spelled) else ()
    own = names_of_fact(wanted.fact)
    theirs = {name for fact in alike if fact.slot != wanted.fact.slot for name in names_of_fact(fact)}
    theirs = {name for name in theirs if not any(True for mine in own for _ in phrases_in(mine, name))}
    distinct = own - theirs
    forms = [] if kind is None else [kind.label, *(text for pair in kind.forms for text in pair)]
    is_named = (
        theirs
        and forms
        and all(any(True for name in distinct for _ in phrases_in(text.casefold(), name)) for text in forms)
    )
    return tuple(sorted(theirs)), tuple(sorted(distinct)) if is_named else ()


def _other_labels(wanted: Wanted, alike: Sequence[Fact]) -> tuple[str, ...]:
    """Return the labels of other attributes: a word after one of them would be read as that attribute's value."""
    own = names_of_fact(wanted.fact).union(wanted.spelled)
    labels = {
        _label_of(fact).casefold() for fact in alike if fact.constraint.attribute != wanted.fact.constraint.attribute
    }
    return tuple(sorted(label for label in labels if not any(True for mine in own for _ in phrases_in(mine, label))))


def _label_of(fact: Fact) -> str:
    return fact.kind.label if fact.kind else LABELS[fact.constraint.attribute]
