"""Words the first message: every wanted item with its facts, so that it is clear which fact belongs to which item."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ecom_rlve.envs.language.acts import Act, Mention
from ecom_rlve.envs.language.speaker import Speaker, named, split_circumstances, split_quantity, split_wishes
from ecom_rlve.envs.language.templates import (
    ANSWER_COUNT,
    ANSWER_ITEM,
    CIRCUMSTANCES,
    FIRST_WANT,
    FOLLOW_UP,
    LISTED_WANT,
    NEXT_WANT,
    WISH_FOLLOW_UP,
    WISH_ITEM,
)

PROTECTED_PLACES = ("title", "date", "money", "number")
"""Places in an environment's sentences whose text noise must not change."""
_SEMICOLON_SHARE = 0.35
_FOLLOW_UP_SHARE = 0.4


def opening(speaker: Speaker, mentions: Sequence[Mention]) -> str:
    """Return the first message; raises :class:`ValueError` if ``mentions`` is empty."""
    if not mentions:
        raise ValueError("an opening needs at least one wanted item")
    return _between_greetings(speaker, lambda: wishes(speaker, mentions))


def wishes(speaker: Speaker, mentions: Sequence[Mention]) -> str:
    """Return the wanted items with their facts, without a greeting."""
    draws = speaker.draws
    if draws.uniform() < speaker.persona.lists:
        return _listed(speaker, mentions)
    if len(mentions) > 1 and draws.uniform() < _SEMICOLON_SHARE:
        phrases = [_phrase(speaker, mention) for mention in mentions]
        return _want(speaker, f"{'; '.join(phrases[:-1])}; and {phrases[-1]}", is_first=True)
    return " ".join(_in_sentences(speaker, mention, is_first=not at) for at, mention in enumerate(mentions))


def opening_of(speaker: Speaker, act: Act) -> str:
    """Return the first message in an environment's own sentences."""
    return _between_greetings(speaker, lambda: introduced(speaker, act))


def _between_greetings(speaker: Speaker, words: Callable[[], str]) -> str:
    persona, draws = speaker.persona, speaker.draws
    parts = [draws.pick(persona.greetings)] if draws.uniform() < persona.greets else []
    parts.append(words())
    if draws.uniform() < persona.closes:
        parts.append(draws.pick(persona.closings))
    return " ".join(parts)


def introduced(speaker: Speaker, act: Act) -> str:
    """Return a sentence of the act's own bank with its places filled, and further facts in sentences after it."""
    if act.bank is None:
        raise ValueError(f"{act.kind} needs sentences of its environment")
    speaker.protected += [text for place, text in act.places if place in PROTECTED_PLACES]
    parts = [speaker.say(act.bank, (), **dict(act.places))]
    for mention in act.mentions:
        quantity, rest = split_quantity(mention)
        circumstances, stated = split_circumstances(rest)
        preferred, facts = split_wishes(stated)
        if quantity is not None:
            parts.append(speaker.say(ANSWER_COUNT, count=speaker.counted(mention, quantity)))
        if circumstances:
            parts.append(speaker.say(CIRCUMSTANCES, circumstances))
        is_alone = len(act.mentions) == 1
        if facts:
            parts.append(speaker.say(FOLLOW_UP if is_alone else ANSWER_ITEM, facts, item=named([mention])))
        if preferred:
            parts.append(speaker.say(WISH_FOLLOW_UP if is_alone else WISH_ITEM, preferred, item=named([mention])))
    return " ".join(parts)


def _want(speaker: Speaker, wanted: str, *, is_first: bool) -> str:
    bank = FIRST_WANT if is_first else NEXT_WANT
    return speaker.sentence(speaker.draws.pick(bank[speaker.persona.register]) % wanted)


def _head(speaker: Speaker, mention: Mention, bare: str) -> str:
    """Return the counted noun, or ``bare`` if the mention has no quantity."""
    quantity, _ = split_quantity(mention)
    return bare if quantity is None else speaker.counted(mention, quantity)


def _phrase(speaker: Speaker, mention: Mention) -> str:
    head = _head(speaker, mention, named([mention]))
    _, facts = split_quantity(mention)
    return f"{head} {speaker.worded('facts', facts)}" if facts else head


def _in_sentences(speaker: Speaker, mention: Mention, *, is_first: bool) -> str:
    quantity, facts = split_quantity(mention)
    if not facts or speaker.draws.uniform() >= _FOLLOW_UP_SHARE:
        return _want(speaker, _phrase(speaker, mention), is_first=is_first)
    named_first = _want(speaker, _head(speaker, mention, named([mention])), is_first=is_first)
    # A pronoun ("it", "they") would tell one from many, which only a quantity may do.
    subject = named([mention])
    if quantity is not None:
        subject = "it" if quantity.constraint.value == 1 else "they"
    verb = speaker.draws.pick(("should", "must", "should"))
    return f"{named_first} {speaker.sentence(subject)} {verb} {speaker.worded('preds', facts)}."


def _listed(speaker: Speaker, mentions: Sequence[Mention]) -> str:
    is_introduced = speaker.draws.uniform() < 0.5
    entries = []
    for mention in mentions:
        head = _head(speaker, mention, mention.singular)
        _, facts = split_quantity(mention)
        tags = speaker.worded("tags", facts)
        if not facts:
            entries.append(head)
        else:
            entries.append(f"{head} ({tags})" if is_introduced else f"{head}: {tags}")
    body = "; ".join(entries)
    return speaker.sentence(speaker.draws.pick(LISTED_WANT) % body if is_introduced else f"{body}.")
