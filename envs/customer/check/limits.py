"""What a text must say word by word, what it must name, and what it must not say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ecom_rlve.envs.customer.check.lexicon import (
    ENGLISH,
    LABEL_WORDS,
    WORD,
    bank_sentences,
    content_words,
    phrases_of_kind,
    places_of,
    telling_words,
)
from ecom_rlve.envs.customer.check.sheet import Sheet, folded
from ecom_rlve.envs.customer.check.values import NAMES, shape_of
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind, Fact
from ecom_rlve.envs.language.phrases import LABELS, spellings

COUNTING = re.compile(
    r"\b(?P<count>an?|one|single|(?:couple|pair|set|bunch|lots?) of|few|several|some|many|both|more|these|those)\s+"
    r"(?:(?!(?:and|or|with|for|in|of|but|also|the|to|is|are|on|at|by|about|my|your)\b)[^\W\d]+\s+){0,2}$"
)
"""Words that tell a quantity (one or many), before a noun and its description."""
ONE = re.compile(
    r"(?<!the )(?<!this )(?<!that )(?<!which )(?<!no )(?<!another )(?<!quick )(?<!every )(?<!any )\bone\b"
    r"(?! (?:more|thing|last|question|moment|second|minute|other|another|matter|by|or|day|of th[eo]se|of it)\b)"
)
"""The word "one" as a quantity, not in its other senses."""
_ARTICLE = re.compile(r"^(?:an?|the) (?=.* )")
"""An article before a value of several words, which means the same without it."""


class Passage(NamedTuple):
    """A text that an act says word by word."""

    text: str
    folded: str
    is_needed: bool
    """False if some sentence of the act's bank does not hold it."""
    is_title: bool
    thing: str
    """The noun of the thing that a title stands for, folded; empty if there is none."""


def passages_of(acts: Sequence[Act]) -> tuple[Passage, ...]:
    """Return the passages of the acts, longest first."""
    found = [Passage(act.title, folded(act.title), True, True, "") for act in acts if act.title]
    for act in acts:
        thing = folded(act.mentions[0].singular) if len(act.mentions) == 1 else ""
        sentences = bank_sentences(act.bank) if act.bank else ()
        for place, text in act.places:
            is_needed = all(place in places_of(sentence) for sentence in sentences)
            found.append(Passage(text, folded(text), is_needed, place == "title", thing))
    return tuple(sorted(found, key=lambda passage: -len(passage.text)))


def forbidden_by(slots: Sequence[Slot], told: Sequence[Fact], own_words: frozenset[str]) -> dict[str, str]:
    """Return what would tell a fact that is not told now: values and telling words of values → name of the slot."""
    found: dict[str, str] = {}
    for fact in told:
        found |= dict.fromkeys(_ways_of(fact.kind.values if fact.kind else ()), fact.slot)
    for slot in slots:
        fact = slot.fact
        if fact in told or shape_of(fact) == "count":
            continue
        for spelled in spellings(fact):
            if folded(spelled) not in NAMES:
                found |= dict.fromkeys(_ways_of([spelled]), slot.name)
            elif fact.kind is not None:
                # The value "price" may be said, because it is also the name of a fact. The phrases that say that it
                # matters most may not.
                found |= dict.fromkeys(phrases_of_kind(fact.kind), slot.name)
        if fact.kind is not None:
            found |= dict.fromkeys(_ways_of(fact.kind.values), slot.name)
        if shape_of(fact) == "word":
            words = content_words(" ".join(spellings(fact))) - own_words - ENGLISH - LABEL_WORDS
            found |= {word: slot.name for word in words if len(word) > 3}
    return {text: name for text, name in found.items() if text not in own_words and text not in NAMES}


def _ways_of(values: Iterable[str]) -> list[str]:
    """Return values, folded, with and without an article before them."""
    return [way for value in map(folded, values) for way in (value, _ARTICLE.sub("", value))]


def unsaid_names(slots: Sequence[Slot], told: Sequence[Fact], attributes: Sequence[str]) -> tuple[str, ...]:
    """Return values of untold facts that are also names of facts ("price"), except for those of ``attributes``."""
    spoken_of = {LABELS.get(name, name).casefold() for name in attributes}
    values = [folded(spellings(slot.fact)[0]) for slot in slots if slot.fact not in told]
    return tuple(dict.fromkeys(value for value in values if value in NAMES and value not in spoken_of))


def uncounted_in(intents: Sequence[Intent[Any]], told: Sequence[Fact]) -> frozenset[str]:
    """Return the nouns of things whose quantity is a slot that is not told now."""
    return frozenset(
        folded(intent.subjects[slot.item].singular)
        for intent in intents
        for slot in intent.slots
        if shape_of(slot.fact) == "count" and slot.fact not in told
    )


def nouns_of(act: Act, mentions: int) -> list[str]:
    """Return the nouns that a text must name for an act.

    The first act of an intent names every wanted thing. If it has sentences of its own and mentions one thing only, it
    need not name it. Later acts name the things that they mention.
    """
    is_first = act.kind in (ActKind.OPEN, ActKind.NEXT, ActKind.SWITCH)
    if is_first and act.bank is None:
        return [mention.singular for mention in act.mentions if mention.singular]
    if is_first and mentions == 1:
        return []
    # Facts that are no catalog attributes (a reason, a budget) are told without the noun.
    named = [each for each in act.mentions if not all(fact.kind for fact in each.facts) or not (each.facts or is_first)]
    return [mention.singular for mention in named if mention.singular]


def lacking_telling_word(act: Act, sheet: Sheet) -> str:
    """Return a demand for a word that an act's own sentences say; empty if the text has one."""
    if act.bank is None:
        return ""
    telling = telling_words(bank_sentences(act.bank))
    words = WORD.findall(sheet.whole)
    if telling and not any(word.startswith(stem[: max(4, len(stem) - 3)]) for word in words for stem in telling):
        return f"make clear what you want; use one of these words: {', '.join(sorted(telling))}"
    return ""
