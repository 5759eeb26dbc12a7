"""Words the first message of an intent: the frame of its environment, and sentences for the facts beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ecom_rlve.envs.language.acts import Act, Fact, Mention
from ecom_rlve.envs.language.noun_phrases import noun_phrase
from ecom_rlve.envs.language.phrases import frames_of
from ecom_rlve.envs.language.speaker import PROTECTED_PLACES, Speaker, joined

_MOST_IN_PHRASE = 3
"""Most facts that a noun phrase carries; a list of several items carries fewer with each."""
_MOST_TOGETHER = 3
"""Most facts in one further sentence."""
_ALONE_SHARE = 0.55
"""Share of further sentences that tell one fact, in the frames of its kind."""
_SEPARATELY_SHARE = 0.35
"""Share of several items that are named in a sentence each."""
_TAGS_SHARE = 0.12
"""Share of circumstances that are told as labels with values."""


def opened(speaker: Speaker, act: Act) -> str:
    """Return the first message of a conversation."""
    persona, draws = speaker.persona, speaker.draws
    parts = [speaker.say("greeting")] if draws.uniform() < persona.greets else []
    if act.lead is not None:
        parts.append(speaker.say(act.lead))
    parts.append(introduced(speaker, act))
    if draws.uniform() < persona.closes:
        parts.append(speaker.say("closing"))
    return " ".join(parts)


def introduced(speaker: Speaker, act: Act) -> str:
    """Return the first message of an intent without greetings. Raises ``ValueError`` if it is about nothing."""
    if act.frames is None or "goods" in act.frames.places:
        sentences = _goods(speaker, act)
    elif "thing" in act.frames.places:
        sentences = _thing(speaker, act)
    else:
        sentences = _fixed(speaker, act)
    if act.attributes:
        sentences.append(speaker.say("hedge", things=speaker.things(act.attributes)))
    return " ".join(sentences)


def _fixed(speaker: Speaker, act: Act) -> list[str]:
    """Return a sentence of the environment with the places that it fills itself, and all facts in others."""
    assert act.frames is not None
    speaker.protected += [text for place, text in act.places if place in PROTECTED_PLACES]
    is_alone = len(act.mentions) == 1
    sentences = [speaker.say(act.frames, (), of=None, **dict(act.places))]
    for mention in act.mentions:
        sentences += further(speaker, mention, is_alone=is_alone, is_one=True)
    return sentences


def _thing(speaker: Speaker, act: Act) -> list[str]:
    """Return a sentence about one wanted thing, and what it does not say in others."""
    assert act.frames is not None
    (mention,) = act.mentions
    stated = [fact for fact in mention.facts if _is_stated(fact)]
    most = int(speaker.draws.uniform() * (_MOST_IN_PHRASE + 1))
    phrase = noun_phrase(speaker, _with(mention, stated), most)
    first = speaker.say(act.frames, thing=phrase.text)
    rest = [fact for fact in mention.facts if fact in phrase.left or not _is_stated(fact)]
    return [first, *further(speaker, _with(mention, rest), is_alone=True)]


def _goods(speaker: Speaker, act: Act) -> list[str]:
    """Return sentences that name every wanted item with its facts."""
    if not act.mentions:
        raise ValueError("an opening needs at least one wanted item")
    draws = speaker.draws
    if draws.uniform() < speaker.persona.lists:
        return [_listed(speaker, act.mentions)]
    each_alone = act.frames is None or (len(act.mentions) > 1 and draws.uniform() < _SEPARATELY_SHARE)
    phrases, sentences = [], []
    for at, mention in enumerate(act.mentions):
        most = int(draws.uniform() * (_MOST_IN_PHRASE + 1))
        phrase = noun_phrase(speaker, mention, most, is_counted=True)
        if each_alone:
            sentences.append(speaker.say("next_want" if at else "first_want", thing=phrase.text))
        phrases.append(phrase.text)
        sentences += further(speaker, replace(_with(mention, phrase.left), is_plural=mention.is_many), is_alone=False)
    if not each_alone:
        assert act.frames is not None
        # Phrases with commas of their own are parted by semicolons.
        comma = "; " if any("," in phrase for phrase in phrases) else ", "
        last = " and " if comma == ", " and len(phrases) == 2 else f"{comma}and "
        sentences.insert(0, speaker.say(act.frames, goods=joined(phrases, comma, last)))
    return sentences


def further(speaker: Speaker, mention: Mention, *, is_alone: bool, is_one: bool = False) -> Iterator[str]:
    """Yield sentences that tell all facts of a mention.

    ``is_alone``: it is clear what they are about. ``is_one``: nobody speaks of how many are wanted, so that "it" may
    stand for what a sentence has named.
    """
    if mention.quantity:
        yield speaker.say("answer_count", count=speaker.counted(mention))
    circumstances = [fact for fact in mention.facts if is_circumstance(fact)]
    if circumstances:
        has_tags = speaker.draws.uniform() < _TAGS_SHARE
        about = replace(mention, pronoun="it")
        yield (
            speaker.say("circumstances_list", circumstances)
            if has_tags
            else speaker.stated("circumstances", circumstances, about)
        )
    for some in _chunks(speaker, [fact for fact in mention.features if _is_stated(fact)]):
        if len(some) == 1 and frames_of(some[0], "clause", speaker.bank):
            yield speaker.stated("follow_up_fact", some, mention)
        else:
            yield speaker.say("follow_up" if is_alone else "answer_item", some, of=mention)
        if is_one:
            mention = replace(mention, pronoun="it")
    wishes = [fact for fact in mention.features if fact.is_wish and not is_circumstance(fact)]
    if wishes:
        yield speaker.say("wish_follow_up" if is_alone else "wish_item", wishes, of=mention)


def _chunks(speaker: Speaker, facts: Sequence[Fact]) -> Iterator[list[Fact]]:
    """Yield the facts in random order, some of them together."""
    left = speaker.draws.shuffled(facts)
    while left:
        is_single = speaker.draws.uniform() < _ALONE_SHARE
        size = 1 if is_single else 2 + int(speaker.draws.uniform() * (_MOST_TOGETHER - 1))
        yield left[:size]
        left = left[size:]


def is_circumstance(fact: Fact) -> bool:
    """Tell whether a fact says how things are, not how something should be."""
    return fact.kind is not None and fact.kind.is_circumstance


def _is_stated(fact: Fact) -> bool:
    """Tell whether a fact is a requirement about how something should be."""
    return not fact.is_wish and not is_circumstance(fact)


def _with(mention: Mention, facts: Sequence[Fact]) -> Mention:
    return replace(mention, facts=tuple(facts))


def _listed(speaker: Speaker, mentions: Sequence[Mention]) -> str:
    """Return the items as a list: "Desk lamp: colour black, price up to $30; yoga mat"."""
    entries = []
    for mention in mentions:
        head = speaker.counted(mention) if mention.quantity else mention.singular
        tags = speaker.tagged(mention.features)
        entries.append(f"{head}: {tags}" if tags else head)
    return speaker.say("list_want", list="; ".join(entries))
