"""Turns acts into words: one of thousands of texts, with all facts of the acts and no others.

The text is a function of the acts, the persona and the state of the random generator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from numpy.random import Generator

from ecom_rlve.envs.language import templates
from ecom_rlve.envs.language.acts import Act, ActKind, Bank, Mention
from ecom_rlve.envs.language.opening import introduced, opening, opening_of, wishes
from ecom_rlve.envs.language.persona import Persona
from ecom_rlve.envs.language.speaker import (
    Speaker,
    joined,
    named,
    split_circumstances,
    split_quantity,
    split_wishes,
    things,
)


@dataclass(frozen=True, slots=True)
class Wording:
    """A text before noise."""

    text: str
    protected: tuple[str, ...]
    """Passages of the text that noise must not change: numbers with their units and directions, titles, negations."""


def word(acts: tuple[Act, ...], persona: Persona, rng: Generator) -> Wording:
    """Return the acts as sentences, in order.

    Raises :class:`ValueError` for an act without words here, or for an attribute without a label.
    """
    speaker = Speaker(persona, rng)
    text = " ".join(_sentences_of(act.kind)(speaker, act) for act in acts)
    protected = (part if part in text else part[:1].swapcase() + part[1:] for part in speaker.protected)
    return Wording(text, tuple(dict.fromkeys(protected)))


def _open(speaker: Speaker, act: Act) -> str:
    return opening(speaker, act.mentions) if act.bank is None else opening_of(speaker, act)


def _next(speaker: Speaker, act: Act) -> str:
    return wishes(speaker, act.mentions) if act.bank is None and act.mentions else introduced(speaker, act)


def _answer(speaker: Speaker, act: Act) -> str:
    sentences = []
    for mention in act.mentions:
        circumstances, rest = split_circumstances(mention.facts)
        preferred, others = split_wishes(rest)
        if circumstances:
            sentences.append(speaker.say(templates.CIRCUMSTANCES, circumstances))
        if others or not mention.facts:
            sentences.append(_told(speaker, replace(mention, facts=tuple(others)), _ANSWER_BANKS))
        if preferred:
            sentences.append(_told(speaker, replace(mention, facts=tuple(preferred)), _WISH_BANKS))
    return " ".join(sentences)


@dataclass(frozen=True, slots=True)
class _Banks:
    """The banks with which an act tells facts: about a named item, about an item left unnamed, and a quantity."""

    item: Bank
    bare: Bank
    count: Bank


_ANSWER_BANKS = _Banks(templates.ANSWER_ITEM, templates.ANSWER_BARE, templates.ANSWER_COUNT)
_WISH_BANKS = _Banks(templates.WISH_ITEM, templates.WISH_BARE, templates.ANSWER_COUNT)
_CORRECT_BANKS = _Banks(templates.CORRECT_ITEM, templates.CORRECT_BARE, templates.CORRECT_COUNT)


def _told(speaker: Speaker, mention: Mention, banks: _Banks) -> str:
    quantity, facts = split_quantity(mention)
    sentences = []
    if quantity is not None:
        sentences.append(speaker.say(banks.count, count=speaker.counted(mention, quantity)))
    if facts:
        bank = banks.item if mention.singular else banks.bare
        sentences.append(speaker.say(bank, facts, item=named([mention])))
    if not sentences:
        sentences.append(speaker.say(templates.ANSWER_NOUN, item=named([mention])))
    return " ".join(sentences)


def _of_item(act: Act) -> str:
    item = named(act.mentions, "")
    return f" for {item}" if item else ""


def _dont_know(speaker: Speaker, act: Act) -> str:
    if not act.attributes:
        return speaker.say(templates.DONT_KNOW_BARE)
    return speaker.say(templates.DONT_KNOW, things=things(act.attributes))


def _no_preference(speaker: Speaker, act: Act) -> str:
    if not act.attributes:
        return speaker.say(templates.NO_PREFERENCE_BARE)
    return speaker.say(templates.NO_PREFERENCE, things=things(act.attributes), of_item=_of_item(act))


def _correct(speaker: Speaker, act: Act) -> str:
    sentences = []
    for mention in act.mentions:
        circumstances, others = split_circumstances(mention.facts)
        if circumstances:
            sentences.append(speaker.say(templates.CORRECT_CIRCUMSTANCES, circumstances))
        if others:
            sentences.append(_told(speaker, replace(mention, facts=tuple(others)), _CORRECT_BANKS))
    if act.attributes:
        sentences.append(speaker.say(templates.REFUSE, things=things(act.attributes), of_item=_of_item(act)))
    if not sentences:
        raise ValueError("a correction needs facts or attributes: what is wrong must be said")
    return " ".join(sentences)


def _stockout_fallback(speaker: Speaker, act: Act) -> str:
    if act.title:
        speaker.protected.append(act.title)
        item = named(act.mentions, "")
        return speaker.say(templates.TAKE_TITLE, title=act.title, instead=f" instead of {item}" if item else " instead")
    sentences = [_other_variant(speaker, mention) for mention in act.mentions if mention.facts]
    return " ".join(sentences) or speaker.say(templates.LEAVE_OUT, item=named(act.mentions))


def _other_variant(speaker: Speaker, mention: Mention) -> str:
    quantity, facts = split_quantity(mention)
    item = named([mention]) if quantity is None else speaker.counted(mention, quantity)
    return speaker.say(templates.TAKE_VARIANT, facts, item=item)


def _clarify(speaker: Speaker, act: Act) -> str:
    if act.attributes:
        named_things = [things((name,)) for name in act.attributes]
        return speaker.say(templates.CLARIFY_BETWEEN, things=joined(named_things, last=" or "))
    return speaker.say(templates.CLARIFY)


def _skip(speaker: Speaker, act: Act) -> str:
    item = named(act.mentions)
    if act.attributes:
        item = f"{things(act.attributes)}{_of_item(act)}"
    return speaker.say(templates.SKIP, item=item)


def _fixed(bank: Bank) -> Callable[[Speaker, Act], str]:
    """Return a function that words an act with a sentence of the bank about the mentioned items."""
    return lambda speaker, act: speaker.say(bank, item=named(act.mentions))


_SPEAKERS: dict[ActKind, Callable[[Speaker, Act], str]] = {
    ActKind.OPEN: _open,
    ActKind.NEXT: _next,
    ActKind.SWITCH: _next,
    ActKind.ANSWER: _answer,
    ActKind.DONT_KNOW: _dont_know,
    ActKind.NO_PREFERENCE: _no_preference,
    ActKind.CORRECT: _correct,
    ActKind.STOCKOUT_FALLBACK: _stockout_fallback,
    ActKind.NOTHING_LEFT: _fixed(templates.NOTHING_LEFT),
    ActKind.CONFIRM: _fixed(templates.CONFIRM),
    ActKind.SKIP: _skip,
    ActKind.REJECT: _fixed(templates.REJECT),
    ActKind.CONTINUE: _fixed(templates.CONTINUE),
    ActKind.CLARIFY: _clarify,
    ActKind.STILL_THERE: _fixed(templates.STILL_THERE),
    ActKind.GIVE_UP: _fixed(templates.GIVE_UP),
    ActKind.CLOSE: _fixed(templates.CLOSE),
}


def _sentences_of(kind: ActKind) -> Callable[[Speaker, Act], str]:
    try:
        return _SPEAKERS[kind]
    except KeyError:
        raise ValueError(f"no words for {kind!r}; there are words for {sorted(_SPEAKERS)}") from None
