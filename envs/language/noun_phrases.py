"""Noun phrases of wanted items with some of their facts: "a USB-C wall charger under $25 that ships in two days"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ecom_rlve.envs.language.acts import Fact, Mention
from ecom_rlve.envs.language.phrases import frames_of, spellings
from ecom_rlve.envs.language.speaker import Speaker, in_order, joined
from ecom_rlve.envs.language.spelling import with_article

_MOST_BEFORE = 2
"""Most words of facts before a noun; with more of them it reads like a catalog."""
_BEFORE_SHARE = 0.6
"""Share of facts that stand before the noun where they can."""
_SIMPLE = re.compile(r"[A-Za-z][\w'-]*(?: [a-z][\w'-]*)?")
"""A value that can stand before a noun: one word, or two of which the second is no name."""
_MEASURE = re.compile(
    r"(?:pairs?|bags?|box(?:es)?|tins?|packs?|sets?|bottles?|jars?|cans?|tubes?|bars?|rolls?|sheets?|pieces?|pads?"
    r"|loaf|loaves|reams?|skeins?|cartons?) of "
)


class Worded(NamedTuple):
    """A noun phrase, and the facts that are not in it."""

    text: str
    left: list[Fact]


def noun_phrase(speaker: Speaker, mention: Mention, most: int, *, is_counted: bool = False) -> Worded:
    """Return a noun phrase with at most so many of the mention's facts, drawn at random, and the other facts.

    The facts must be wishes about how the item should be. ``is_counted``: how many are wanted is something that the
    customer can say, so where the mention does not tell it, the phrase must not sound like one: "throw blankets".
    """
    order = speaker.draws.shuffled(mention.features)
    told, left = order[:most], order[most:]
    is_kind = is_counted and not mention.quantity
    subject = replace(mention, is_plural=True) if is_kind else mention
    noun = mention.plural if subject.is_many else mention.singular
    before, after = _split(speaker, told, noun)
    text = _with_words(noun, [speaker.phrased(fact, "before", subject) for fact in before])
    if mention.quantity:
        text = speaker.counted(Mention(text, text, mention.facts))
    elif is_kind:
        text = text if before else _MEASURE.sub("", text, count=1)
    else:
        text = with_article(text)
    phrases = in_order([speaker.phrased(fact, "noun", subject) for fact in after])
    return Worded(f"{text} {joined(phrases)}" if phrases else text, left)


def _split(speaker: Speaker, facts: Sequence[Fact], noun: str) -> tuple[list[Fact], list[Fact]]:
    """Return the facts that are said before the noun, and those after it."""
    before: list[Fact] = []
    after: list[Fact] = []
    words = 0
    for fact in facts:
        value = spellings(fact)[0]
        room = words + value.count(" ") + 1 <= _MOST_BEFORE
        if room and _fits_before(speaker, fact, value, noun) and speaker.draws.uniform() < _BEFORE_SHARE:
            before.append(fact)
            words += value.count(" ") + 1
        else:
            after.append(fact)
    return before, after


def _fits_before(speaker: Speaker, fact: Fact, value: str, noun: str) -> bool:
    if fact.kind is not None or not frames_of(fact, "before", speaker.bank) or _SIMPLE.fullmatch(value) is None:
        return False
    said = set(re.findall(r"\w+", noun.casefold()))
    return said.isdisjoint(re.findall(r"\w+", value.casefold()))


def _with_words(noun: str, words: Sequence[str]) -> str:
    """Return the noun with words before it; a measure stays in front: "pair of black sneakers"."""
    if not words:
        return noun
    measure = _MEASURE.match(noun)
    at = measure.end() if measure else 0
    return f"{noun[:at]}{' '.join(words)} {noun[at:]}"
