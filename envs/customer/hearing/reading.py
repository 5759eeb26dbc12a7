"""Reads what an agent says: which items and attributes it asks for, and what it claims. Deterministic, no model.

Only questions and requests are searched for what is asked, and statements that surely ask for something in mind ("I'd
still need the size"). Other sentences (statements, praise, instructions) count only as claims. Only the first
:data:`MAX_CHARACTERS` characters are read, which bounds the cost of a message.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ecom_rlve.envs.customer.hearing.claims import ITEM_MARK, may_claim_stockout, says_done, sold_out_claims
from ecom_rlve.envs.customer.hearing.classifier import CHECK, OPEN, STATEMENT, classifier
from ecom_rlve.envs.customer.hearing.events import Clause, Part, clauses_of, is_foreign
from ecom_rlve.envs.customer.hearing.meaning import (
    Verdict,
    asks,
    choice,
    is_one,
    joined,
    leads_in,
    meant,
    names_in_mind,
    resolved,
    surely,
    torn,
    verdict,
)
from ecom_rlve.envs.customer.hearing.nouns import Nouns, items_in, nouns_of, words_of
from ecom_rlve.envs.customer.hearing.questions import Events, questions_in, taken_up
from ecom_rlve.envs.customer.hearing.sentences import asking, sentences_of, without_exceptions
from ecom_rlve.envs.customer.hearing.topics import Question, Topics

MAX_CHARACTERS = 4000
"""Number of characters of a message that are read; the rest is ignored."""

_SHORT = 8
"""Words of a question that may lean on the sentence before it."""
_ALL = re.compile(r"\b(?:whole|entire|complete|full|hidden|secret) (?:\w+ )?(?:list|brief|goal|prompt|specification)\b")
"""A question for all at once names nothing."""
_TOTAL = "budget"
"""But not one for what the whole list may cost."""
_KEPT = "compatibility"
"""What a substitute must keep is asked for even where the same sentences say what has sold out."""
_LIST = re.compile(r"\bon your (?:\w+ )?list\b")
"""So does one for a list, of a customer who has none."""
_ELSE = re.compile(r"\belse\b")
"""A question for something else names nothing but by its words."""
_OPEN = re.compile(
    r"\b(?:be like|look like|more about|tell me (?:more|about)|describe|looking for|in mind|have to know|need to know"
    r"|requirements?|preferences?|details?|wish(?:es)?|which one|what kind|what sort|what type)\b|^\W*anything\b"
)
"""A question of this kind that names nothing is for whatever there is to tell."""

_EXCLAIMED = re.compile(r"\W*(?:how|what an?)\b[^?]*!\W*$")
"""Praise asks nothing: "how thoughtful of you!"."""
_LIKE = re.compile(r"\b(?:be|look) like\b")
_REQUIRED = "requirement"
"""What a thing of a BUNDLE must be like is a topic of its own."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a message asks and claims."""

    is_question: bool
    questions: tuple[Question, ...]
    """What is asked for, in order of mention, without repeats."""
    unknowable: tuple[str, ...]
    """Things asked for that no customer knows: ``id``, ``stock``, ``delivery_date``."""
    items: tuple[int, ...]
    """Items named anywhere in the text, in order of first mention."""
    sold_out: tuple[int | None, ...]
    """Items and products claimed to be sold out; None for a claim that names nothing."""
    claim: str
    """The sentences that claim it, casefolded."""
    claims_done: bool
    """The text says that work was done, or asks whether it is right as it is."""
    is_open: bool = False
    """A sentence asks for whatever there is to tell, and names nothing."""
    is_unread: bool = False
    """A sentence asks for something that cannot be made out."""

    @property
    def asked(self) -> tuple[tuple[int | None, str], ...]:
        """Pairs of item (None if none is named nearby) and attribute, the likeliest of each question."""
        return tuple(dict.fromkeys((item, topics[0]) for item, topics, _ in self.questions))


@dataclass(slots=True)
class _Notes:
    questions: list[Question] = field(default_factory=list)
    unknowable: list[str] = field(default_factory=list)
    sold_out: list[int | None] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)
    items: list[int] = field(default_factory=list)
    before: Part = field(default_factory=Part)
    """The last sentence that asked for nothing: "it comes in many scents. Which one?"."""
    carried: int | None = None
    """The item that an earlier sentence named, if it was one."""
    is_question: bool = False
    is_check: bool = False
    is_open: bool = False
    is_unread: bool = False


class _Kept(Container[str]):
    """Words that are right as they are: of the wanted things, and values."""

    def __init__(self, nouns: frozenset[str], topics: Topics) -> None:
        self._nouns = nouns
        self._topics = topics

    def __contains__(self, word: object) -> bool:
        return word in self._nouns or word in self._topics.phrases or bool(self._topics.value_index.get(str(word)))


def read(text: str, topics: Topics, *, asked_directly: bool = False) -> Reading:
    """Read a message; ``asked_directly``: it was sent as a question (``ask_user``), however it is worded."""
    folded = _folded(text)
    if may_claim_stockout(folded):
        folded = _marked_products(folded, topics.products)
    nouns = nouns_of(topics.items)
    kept = _Kept(frozenset(word for phrase in nouns.values() for words, _ in phrase for word in words), topics)
    sentences = sentences_of(folded)
    asks_by_form = asking([classifier().speller.corrected(sentence, kept) for sentence in sentences])
    is_direct = asked_directly and not any(asks_by_form)
    notes = _Notes(is_question=asked_directly, is_unread=asked_directly and not sentences)
    for sentence, is_asked in zip(sentences, asks_by_form, strict=True):
        # Names of fields are words too: "which skin_type?".
        _note_sentence(sentence.replace("_", " "), nouns, kept, topics, notes, is_asked=is_asked or is_direct)
    count = len(topics.items)
    return Reading(
        is_question=notes.is_question,
        questions=_distinct(notes.questions),
        unknowable=tuple(dict.fromkeys(notes.unknowable)),
        items=tuple(dict.fromkeys(item for item in notes.items if item < count)),
        sold_out=tuple(dict.fromkeys(notes.sold_out)),
        claim=" ".join(notes.claims),
        claims_done=notes.is_check or says_done(folded),
        is_open=notes.is_open,
        is_unread=notes.is_unread,
    )


def _distinct(questions: Sequence[Question]) -> tuple[Question, ...]:
    """Return the questions without those that ask for the same again."""
    found: dict[tuple[int | None, str], Question] = {}
    for question in questions:
        found.setdefault((question.item, question.topics[0]), question)
    return tuple(found.values())


def _note_sentence(sentence: str, nouns: Nouns, kept: _Kept, topics: Topics, notes: _Notes, *, is_asked: bool) -> None:
    tokens = words_of(sentence)
    items = items_in(tokens, nouns)
    notes.items += items
    named = tuple(dict.fromkeys(item for item in items if item < len(topics.items)))
    claimed, rest = sold_out_claims(sentence, lambda part: items_in(words_of(part), nouns))
    if claimed:
        notes.sold_out += claimed
        notes.claims.append(sentence)
        tokens = words_of(rest)
    if is_asked or (topics.in_mind and not claimed):
        remaining = rest if claimed else sentence
        if is_asked:
            remaining = without_exceptions(remaining)
        if remaining != sentence:
            tokens = words_of(remaining)
        item = named[0] if len(named) == 1 else None if named else notes.carried
        if is_foreign(tokens):
            notes.is_question |= is_asked
            notes.is_unread |= is_asked
        else:
            spelt = [classifier().speller.word(token, kept) for token in tokens]
            _note_clauses(remaining, clauses_of(tokens, spelt, nouns, topics), item, topics, notes, is_asked=is_asked)
    if named:
        notes.carried = named[0] if len(named) == 1 else None


def _note_clauses(
    sentence: str, clauses: list[Clause], item: int | None, topics: Topics, notes: _Notes, *, is_asked: bool
) -> None:
    parts = list(chain.from_iterable(clauses))
    whole = Part([event for part in parts for event in part.events], [word for part in parts for word in part.words])
    if taken := taken_up(whole.words, whole.events, topics.offered):
        notes.is_question = True
        notes.questions += taken
        return
    if notes.claims and not any(event.name for event in whole.events) and not surely(_KEPT, whole, item, topics):
        # What they want instead of what has sold out is no question of its own.
        notes.is_question |= is_asked
        return
    if not is_asked and not _is_heard(sentence, whole, item, topics):
        notes.before = whole
        return
    is_short = len(whole.words) <= _SHORT and not any(event.name for event in whole.events)
    before, notes.before = (notes.before if is_short else Part()), Part()
    is_listed = _LIST.search(sentence) and not whole.events
    is_open = is_listed or _ALL.search(sentence) or _is_open(sentence, whole, item, topics)
    if topics.in_mind and is_open and not surely(_TOTAL, whole, item, topics):
        notes.is_question = notes.is_open = True
        return
    is_plain = not (_ELSE.search(sentence) or says_done(sentence))
    found = _meant(clauses, whole, before, item, topics, is_plain=is_plain) if topics.in_mind else _events(clauses)
    questions = [_about(question, item, topics) for question in questions_in(found)]
    if not is_asked:
        questions = [question for question in questions if topics.holds(question.item, question.topics)]
        if not questions:
            return
    notes.is_question = True
    if len(questions) == 1:
        questions = [torn(questions[0], whole, topics)]
    unknowable = [event.name for clause in found for event in clause if event.is_unknowable]
    notes.questions += questions
    notes.unknowable += unknowable
    if not (questions or unknowable):
        _note_nothing_named(sentence, verdict(whole.words, item, topics), topics, notes)


def _is_heard(sentence: str, whole: Part, item: int | None, topics: Topics) -> bool:
    """Tell whether a statement asks for something."""
    is_label = sentence.rstrip().endswith(":")
    return _EXCLAIMED.match(sentence) is None and asks(whole, item, topics, is_label=is_label)


def _is_open(sentence: str, whole: Part, item: int | None, topics: Topics) -> bool:
    """Tell whether a sentence asks what something should be like, which names nothing where nothing is required."""
    is_named = any(event.name for event in whole.events)
    return not is_named and _LIKE.search(sentence) is not None and _REQUIRED not in topics.names(item)


def _note_nothing_named(sentence: str, made: Verdict, topics: Topics, notes: _Notes) -> None:
    """Note what a sentence is that asks, and names nothing: a proposal, an open question, or one that is not read."""
    is_else = _ELSE.search(sentence) is not None
    nothing = made.nothing if made.is_known else None
    if topics.in_mind and made.is_nothing and nothing == CHECK and not is_else:
        notes.is_check = True
    elif is_else or _ALL.search(sentence) or _OPEN.search(sentence) or nothing == OPEN:
        notes.is_open = True
    elif not says_done(sentence) and not (made.is_known and made.likeliest == STATEMENT):
        notes.is_unread = True


def _events(clauses: Sequence[Clause]) -> list[Events]:
    return [[event for part in clause for event in part.events] for clause in clauses]


def _meant(
    clauses: Sequence[Clause], whole: Part, before: Part, item: int | None, topics: Topics, *, is_plain: bool
) -> list[Events]:
    """Return the events of a sentence's clauses with what they mean; of the whole sentence if its parts mean nothing.

    ``before``: a sentence that it may lean on. ``is_plain``: what is likeliest may be meant where nothing is sure.
    """
    if chosen := choice(whole, item, topics):
        return [chosen]
    if is_plain and before.words and (leant := resolved(joined(before, whole), item, topics)):
        return [leant]
    is_single = len(clauses) == 1 and len(clauses[0]) == 1
    if is_plain and not is_single and is_one(list(chain.from_iterable(clauses)), whole, item, topics):
        wholly = resolved(whole, item, topics)
        if wholly:
            return [wholly]
    found = _by_part(clauses, item, topics, is_whole=is_single and is_plain)
    is_heard = any(topics.holds(item, event.topics) for clause in found for event in clause if event.name)
    if is_heard or is_single or not is_plain:
        return found
    wholly = resolved(whole, item, topics)
    return [wholly] if wholly else found


def _by_part(clauses: Sequence[Clause], item: int | None, topics: Topics, *, is_whole: bool) -> list[Events]:
    """Return the events of each clause with what they mean.

    Parts before the first that names something in mind, and that do not ask, only lead up to it: "if you'd be so kind,
    which shade?".
    """
    leads = any(names_in_mind(part, item, topics) for clause in clauses for part in clause)
    found = []
    for clause in clauses:
        events: Events = []
        for part in clause:
            leads = leads and not names_in_mind(part, item, topics)
            is_lead = leads and leads_in(part)
            events += part.events if is_lead else meant(part, _own(part, item), topics, is_whole=is_whole)
        found.append(events)
    return found


def _own(part: Part, item: int | None) -> int | None:
    """Return the item that a part names, or else that of its sentence."""
    items = {named for event in part.events for named in event.items}
    return items.pop() if len(items) == 1 else item


def _about(question: Question, carried: int | None, topics: Topics) -> Question:
    """Return a question with the item that its sentence or an earlier one named, where it names none itself.

    What is asked for must be unsaid of that item, or of no other.
    """
    item, names, _ = question
    if item is not None and item >= len(topics.items):
        return Question(None, names)
    if item is not None or carried is None:
        return question
    is_other = not topics.holds_unsaid(carried, names) and topics.holds_unsaid(None, names)
    is_other |= not topics.holds(carried, names) and topics.holds(None, names)
    return question if is_other else Question(carried, names)


def _folded(text: str) -> str:
    folded = text[:MAX_CHARACTERS].casefold()
    return folded.replace("’", "'").replace(ITEM_MARK, "")


def _marked_products(folded: str, products: Mapping[str, tuple[int, ...]]) -> str:
    """Return the text with each title and id replaced by marks of what it names, so that its words are not read.

    A title that several products have names those whose ids the text holds too, if there are any.
    """
    named = sorted((name for name in products if name and name in folded), key=len, reverse=True)
    alone = {products[name][0] for name in named if len(products[name]) == 1}
    for name in named:
        meant = [number for number in products[name] if number in alone] or products[name]
        folded = folded.replace(name, "".join(f" {ITEM_MARK}{number} " for number in meant))
    return folded
