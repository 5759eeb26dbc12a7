"""Turns acts into words: with all facts of the acts and no others.

The text is a function of the acts, the customer's manner, the bank and the state of the random generator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from numpy.random import Generator

from ecom_rlve.envs.language.acts import Act, ActKind, Fact, Mention
from ecom_rlve.envs.language.frames import DEFAULT_BANK, Bank
from ecom_rlve.envs.language.opening import introduced, is_circumstance, opened
from ecom_rlve.envs.language.persona import Persona
from ecom_rlve.envs.language.phrases import frames_of
from ecom_rlve.envs.language.speaker import Speaker, named

_CLAUSE_SHARE = 0.65
"""Share of answers of one fact that are told in the frames of its kind."""
_CLAUSES_SHARE = 0.3
"""The same for answers of two."""
_BARE_SHARE = 0.5
"""Share of answers that leave unnamed the only item that there is."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A text before noise."""

    text: str
    protected: tuple[str, ...]
    """Passages of the text that noise must not change: numbers with their units and directions, titles, negations."""
    frames: tuple[str, ...] = ()
    """The frames that it is made from, in order."""


def word(
    acts: tuple[Act, ...],
    persona: Persona,
    rng: Generator,
    bank: Bank = DEFAULT_BANK,
    *,
    is_american: bool = False,
) -> Wording:
    """Return the acts as sentences, in order.

    Raises :class:`ValueError` for an act without words here, or for an attribute without a label.
    """
    speaker = Speaker(persona, rng, bank, is_american=is_american)
    text = " ".join(_sentences_of(act.kind)(speaker, act) for act in acts)
    protected = (part if part in text else part[:1].swapcase() + part[1:] for part in speaker.protected)
    return Wording(text, tuple(part for part in dict.fromkeys(protected) if part in text), tuple(speaker.frames))


class _Tables(NamedTuple):
    """Names of the frames with which an act tells facts."""

    fact: str
    """About one fact, as a statement of its own; empty: there are none."""
    item: str
    bare: str
    """Of an item that is left unnamed."""
    pieces: str
    """How many."""
    circumstances: str


_ANSWER = _Tables("answer_fact", "answer_item", "answer_bare", "answer_count", "circumstances")
_WISH = _Tables("", "wish_item", "wish_bare", "answer_count", "circumstances")
_REVISE = _Tables("revise_fact", "revise_item", "revise_bare", "revise_count", "circumstances")
_CORRECT = _Tables("correct_fact", "correct_item", "correct_bare", "correct_count", "correct_circumstances")


def _answer(speaker: Speaker, act: Act) -> str:
    return " ".join(sentence for mention in act.mentions for sentence in _told(speaker, mention, _ANSWER))


def _told(speaker: Speaker, mention: Mention, tables: _Tables) -> list[str]:
    """Return sentences that tell every fact of a mention, or its noun if it has none."""
    circumstances = [fact for fact in mention.features if is_circumstance(fact)]
    others = [fact for fact in mention.features if not is_circumstance(fact)]
    sentences = []
    if circumstances:
        about = replace(mention, pronoun="it")
        sentences.append(_statement(speaker, tables.circumstances, circumstances, about))
    if mention.quantity:
        sentences.append(speaker.say(tables.pieces, count=speaker.counted(mention)))
    if required := [fact for fact in others if not fact.is_wish]:
        sentences.append(_stated(speaker, mention, required, tables))
    if wishes := [fact for fact in others if fact.is_wish]:
        sentences.append(_stated(speaker, mention, wishes, _WISH if tables is _ANSWER else tables))
    return sentences or [speaker.say("answer_noun", item=named([mention]))]


def _stated(speaker: Speaker, mention: Mention, facts: Sequence[Fact], tables: _Tables) -> str:
    share = {1: _CLAUSE_SHARE, 2: _CLAUSES_SHARE}.get(len(facts), 0.0)
    has_clauses = tables.fact and all(frames_of(fact, "clause", speaker.bank) for fact in facts)
    if has_clauses and speaker.draws.uniform() < share:
        return _statement(speaker, tables.fact, facts, mention)
    if mention.pronoun and speaker.draws.uniform() < _BARE_SHARE:
        return speaker.say(tables.bare, facts, of=mention)
    return speaker.say(tables.item, facts, of=mention)


def _statement(speaker: Speaker, table: str, facts: Sequence[Fact], of: Mention) -> str:
    """Return statements of facts; only an answer can do without a frame, which shows what else the act does."""
    is_answer = table in (_ANSWER.fact, _ANSWER.circumstances)
    return speaker.stated(table, facts, of) if is_answer else speaker.say(table, facts, of=of)


def _of_item(act: Act) -> str:
    item = named(act.mentions, "")
    return f" for {item}" if item else ""


def _about_things(table: str) -> Callable[[Speaker, Act], str]:
    """Return a function that words an act about attributes, or about nothing in particular."""

    def worded(speaker: Speaker, act: Act) -> str:
        if not act.attributes:
            return speaker.say(f"{table}_bare")
        return speaker.say(table, things=speaker.things(act.attributes), of_item=_of_item(act))

    return worded


def _corrected(tables: _Tables, speaker: Speaker, act: Act) -> str:
    sentences = [text for mention in act.mentions if mention.facts for text in _told(speaker, mention, tables)]
    if act.attributes:
        sentences.append(speaker.say("refuse", things=speaker.things(act.attributes), of_item=_of_item(act)))
    if not sentences:
        raise ValueError("a correction needs facts or attributes: what is wrong must be said")
    return " ".join(sentences)


def _revised(speaker: Speaker, act: Act) -> str:
    if not any(mention.facts for mention in act.mentions):
        raise ValueError("a change of mind needs a fact: what is wanted now must be said")
    return " ".join(sentence for mention in act.mentions for sentence in _told(speaker, mention, _REVISE))


def _stockout_fallback(speaker: Speaker, act: Act) -> str:
    if act.title:
        speaker.protected.append(act.title)
        item = named(act.mentions, "")
        instead = f" instead of {item}" if item else " instead"
        return speaker.say("take_title", title=act.title, instead=instead)
    sentences = [_other_variant(speaker, mention) for mention in act.mentions if mention.facts]
    return " ".join(sentences) or speaker.say("leave_out", item=named(act.mentions))


def _other_variant(speaker: Speaker, mention: Mention) -> str:
    counted = {"item": speaker.counted(mention)} if mention.quantity else {}
    return speaker.say("take_variant", mention.features, of=mention, **counted)


def _skip(speaker: Speaker, act: Act) -> str:
    item = named(act.mentions)
    if act.attributes:
        item = f"{speaker.things(act.attributes)}{_of_item(act)}"
    return speaker.say("skip", item=item)


def _clarify(speaker: Speaker, act: Act) -> str:
    if act.attributes:
        return speaker.say("clarify_between", options=speaker.things(act.attributes, " or "))
    return speaker.say("clarify" if act.mentions else "clarify_question")


def _fixed(table: str) -> Callable[[Speaker, Act], str]:
    """Return a function that words an act with a frame about the mentioned items."""
    return lambda speaker, act: speaker.say(table, item=named(act.mentions))


_SPEAKERS: dict[ActKind, Callable[[Speaker, Act], str]] = {
    ActKind.OPEN: opened,
    ActKind.NEXT: introduced,
    ActKind.SWITCH: introduced,
    ActKind.ANSWER: _answer,
    ActKind.DONT_KNOW: _about_things("dont_know"),
    ActKind.NO_PREFERENCE: _about_things("no_preference"),
    ActKind.CORRECT: partial(_corrected, _CORRECT),
    ActKind.REVISE: _revised,
    ActKind.STOCKOUT_FALLBACK: _stockout_fallback,
    ActKind.NOTHING_LEFT: _fixed("nothing_left"),
    ActKind.CONFIRM: _fixed("confirm"),
    ActKind.SKIP: _skip,
    ActKind.REJECT: _fixed("reject"),
    ActKind.CONTINUE: _fixed("continue"),
    ActKind.CLARIFY: _clarify,
    ActKind.STILL_THERE: _fixed("still_there"),
    ActKind.GIVE_UP: _fixed("give_up"),
    ActKind.CLOSE: _fixed("close"),
}


def _sentences_of(kind: ActKind) -> Callable[[Speaker, Act], str]:
    try:
        return _SPEAKERS[kind]
    except KeyError:
        raise ValueError(f"no words for {kind!r}; there are words for {sorted(_SPEAKERS)}") from None
