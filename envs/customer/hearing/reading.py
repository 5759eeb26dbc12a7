"""Reads what an agent says: which items and attributes it asks for, and what it claims. Deterministic, no model.

Only questions and requests are searched for what is asked. Other sentences (statements, praise, instructions) count
only as claims. Only the first :data:`MAX_CHARACTERS` characters are read, which bounds the cost of a message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from ecom_rlve.envs.customer.hearing.claims import ITEM_MARK, may_claim_stockout, says_done, sold_out_claims
from ecom_rlve.envs.customer.hearing.classifier import classifier
from ecom_rlve.envs.customer.hearing.features import ITEM
from ecom_rlve.envs.customer.hearing.nouns import Nouns, item_at, items_in, nouns_of, words_of
from ecom_rlve.envs.customer.hearing.question_words import (
    COMMON_WORDS,
    FOREIGN_WORDS,
    NOT_NAMES,
    PHRASES,
    UNITS,
    Phrase,
    Phrases,
)
from ecom_rlve.envs.customer.hearing.questions import Clause, Event, asked_pairs, is_question, is_request
from ecom_rlve.envs.language.phrases import NUMBER_WORDS

MAX_CHARACTERS = 4000
"""Number of characters of a message that are read; the rest is ignored."""

_LONGEST_VALUE = 4
"""Number of words of the longest value that is looked for."""
_SENTENCE_END = re.compile(r"[.!?][\"')\]”*]{0,3}\s+|[。？！]|\n")
_BULLET = re.compile(r"\s*(?:[-*•]|\d+[.)])\s*")
_NUMBER_WITH_UNIT = re.compile(r"\d+(?:\.\d+)?([a-z]+)")
_BREAKS = frozenset(",;:()—–")
_QUESTION_WORDS = frozenset(("what", "which", "how", "what's", "do", "would", "also"))
_NUMBERS = frozenset(NUMBER_WORDS[1:]) | frozenset(map(str, range(1, 11)))
_CONDITIONS = frozenset(("if", "case"))
_KNOWING = frozenset(("know", "me", "say", "check", "sure", "wondering", "wonder", "confirm", "see", "tell"))
_DETERMINERS = frozenset(("the", "these", "those", "which", "your", "both", "all"))
_DAYS = frozenset(("day", "days"))
"""After a number these words measure a time; otherwise they may name a date."""
_VAGUE = frozenset(("size", "length", "price", "quantity", "weight", "capacity", "battery_life", "ship_days"))
"""What words like "how big", "how long" and "how much" name, and may mean another of these (SPEC §7, Hearing)."""
_PARTS = re.compile(r"[,;]|\band\b|\bplus\b|\balso\b|&|\bn\b")
_OPEN = re.compile(
    r"\belse\b|\b(?:whole|entire|complete|full|hidden|secret) (?:\w+ )?(?:list|brief|goal|prompt|specification)\b"
)
"""A question for something else, or for all at once, names nothing."""
_TRAILING = " \t\r\n\"')]”*_"


class Values(Protocol):
    """Finds attributes by their values."""

    def get(self, words: str, /) -> str | None:
        """Return the attribute (or ``brand``) that has this casefolded value."""


class InMind(NamedTuple):
    """One fact that a customer could tell."""

    item: int
    names: tuple[str, ...]
    """Names by which a question may ask for it: of its slot and its attribute."""
    is_said: bool


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


@dataclass(frozen=True, slots=True)
class Reading:
    """What a message asks and claims."""

    is_question: bool
    asked: tuple[tuple[int | None, str], ...]
    """Pairs of item (None if none is named nearby) and attribute, in order of mention, without repeats."""
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


@dataclass(slots=True)
class _Notes:
    asked: list[tuple[int | None, str]] = field(default_factory=list)
    unknowable: list[str] = field(default_factory=list)
    sold_out: list[int | None] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)
    items: list[int] = field(default_factory=list)
    asks_whether_right: bool = False


def read(text: str, topics: Topics, *, asked_directly: bool = False) -> Reading:
    """Read a message; ``asked_directly``: it was sent as a question (``ask_user``), however it is worded."""
    folded = _folded(text)
    if may_claim_stockout(folded):
        folded = _marked_products(folded, topics.products)
    nouns = nouns_of(topics.items)
    sentences = _sentences(folded)
    asking = _asking(sentences)
    if asked_directly and not any(asking):
        asking = [True] * len(sentences)
    notes = _Notes()
    for sentence, asks in zip(sentences, asking, strict=True):
        tokens = words_of(sentence)
        notes.items += items_in(tokens, nouns)
        claimed, rest = sold_out_claims(sentence, lambda part: items_in(words_of(part), nouns))
        if claimed:
            notes.sold_out += claimed
            notes.claims.append(sentence)
        if asks:
            asked_before, unknowable_before = len(notes.asked), len(notes.unknowable)
            _note_questions(words_of(rest) if claimed else tokens, nouns, topics, notes)
            is_plain = not claimed and len(notes.unknowable) == unknowable_before
            meant = _meant(sentence, tokens, nouns, topics, notes.asked[asked_before:]) if is_plain else []
            if meant and not _names_any(notes.asked[asked_before:], topics):
                del notes.asked[asked_before:]
            notes.asked += meant
            notes.asks_whether_right |= not meant and _asks_whether_right(sentence, topics, notes.asked[asked_before:])
    count = len(topics.items)
    asked = ((None if item is None or item >= count else item, name) for item, name in notes.asked)
    return Reading(
        is_question=asked_directly or any(asking),
        asked=tuple(dict.fromkeys(asked)),
        unknowable=tuple(dict.fromkeys(notes.unknowable)),
        items=tuple(dict.fromkeys(item for item in notes.items if item < count)),
        sold_out=tuple(dict.fromkeys(notes.sold_out)),
        claim=" ".join(notes.claims),
        claims_done=notes.asks_whether_right or says_done(folded),
    )


def _names_any(named: Sequence[tuple[int | None, str]], topics: Topics) -> bool:
    return any(name in each.names and item in (None, each.item) for item, name in named for each in topics.in_mind)


def _meant(
    sentence: str, tokens: Sequence[str], nouns: Nouns, topics: Topics, named: Sequence[tuple[int | None, str]]
) -> list[tuple[int | None, str]]:
    """Return what a question asks for beside what its words name: all that it means, if they name nothing in mind.

    What the customer has not said yet is meant before what they have.
    """
    if not topics.in_mind or _OPEN.search(sentence) or says_done(sentence) or _is_foreign(tokens):
        return []
    item = next((each for each in items_in(tokens, nouns) if each < len(topics.items)), None)
    plain = _without_nouns(sentence, topics)
    parts = [part for part in _PARTS.split(plain) if part.strip()]
    if _names_any(named, topics):
        found = [_topic_in(part, item, topics, surely=True) for part in parts] if len(parts) > 1 else []
    elif any(name not in _VAGUE for _, name in named):
        return []
    else:
        found = [_topic_in(part, item, topics, surely=True) for part in parts[1:]]
        found.insert(0, _topic_in(plain, item, topics))
    return [(item, topic) for topic in dict.fromkeys(found) if topic is not None and (item, topic) not in named]


def _asks_whether_right(sentence: str, topics: Topics, named: Sequence[tuple[int | None, str]]) -> bool:
    """Tell whether a question that names nothing asks whether the work is right as it stands."""
    return bool(topics.in_mind) and not named and classifier().is_check(_without_nouns(sentence, topics))


def _topic_in(plain: str, item: int | None, topics: Topics, *, surely: bool = False) -> str | None:
    in_mind = [each for each in topics.in_mind if item in (None, each.item)]
    for is_said in (False, True):
        names = {name for each in in_mind if each.is_said is is_said for name in each.names}
        topic = classifier().topic_in(plain, names, surely=surely) if names else None
        if topic is not None:
            return topic
    return None


def _without_nouns(sentence: str, topics: Topics) -> str:
    for noun in sorted((form.casefold() for forms in topics.items for form in forms), key=len, reverse=True):
        sentence = sentence.replace(noun, ITEM.casefold())
    return sentence


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


def _sentences(folded: str) -> list[str]:
    ends = [match.end() for match in _SENTENCE_END.finditer(folded)]
    pieces = [folded[start:end] for start, end in zip([0, *ends], [*ends, len(folded)], strict=True)]
    return [piece for piece in pieces if piece and not piece.isspace()]


def _asking(sentences: Sequence[str]) -> list[bool]:
    """Tell for each sentence whether it asks. Entries of a list after "please tell me:" ask too."""
    asking = []
    in_list = False
    for sentence in sentences:
        is_entry = in_list and _BULLET.match(sentence) is not None
        asks = (
            is_entry
            or sentence.rstrip(_TRAILING).endswith(("?", "？"))
            or is_question(sentence)
            or is_request(sentence)
        )
        in_list = is_entry or (asks and sentence.rstrip(_TRAILING).endswith(":"))
        asking.append(asks)
    return asking


def _note_questions(tokens: list[str], nouns: Nouns, topics: Topics, notes: _Notes) -> None:
    if _is_foreign(tokens):
        return
    clauses: list[Clause] = [[]]
    is_condition = False
    at = 0
    while at < len(tokens):
        token = tokens[at]
        is_joint = token in ("and", "or") and at + 1 < len(tokens) and tokens[at + 1] in _QUESTION_WORDS
        if token in _BREAKS or is_joint:
            clauses.append([])
            is_condition = False
            at += 1
            continue
        if _is_filler(tokens, at, nouns, topics.phrases):
            at += 1
            continue
        is_condition |= _opens_condition(tokens, at)
        event = _event_at(tokens, at, nouns, topics)
        if event is None:
            at += 1
            continue
        if event.items and _is_counted(tokens, at):
            clauses[-1].append(Event(at - 1, at, name="quantity"))
        if not (is_condition and event.is_unknowable):
            clauses[-1].append(event)
        at = event.end
    notes.asked += asked_pairs([_without_bare_numbers(clause) for clause in clauses])
    notes.unknowable += [event.name for clause in clauses for event in clause if event.is_unknowable]


def _without_bare_numbers(clause: Clause) -> Clause:
    """Drop bare numbers from a clause that names something else: "is the order total $20" asks for the total only."""
    if not any(event.name and not event.is_bare_number for event in clause):
        return clause
    return [event for event in clause if not event.is_bare_number]


def _is_filler(tokens: Sequence[str], at: int, nouns: Nouns, phrases: Phrases) -> bool:
    """Tell cheaply that nothing begins at a token. This holds for most words of most questions."""
    token = tokens[at]
    if token not in COMMON_WORDS or token in phrases or token in nouns or token in _CONDITIONS:
        return False
    return at + 1 == len(tokens) or tokens[at + 1] in COMMON_WORDS


def _opens_condition(tokens: Sequence[str], at: int) -> bool:
    """Tell whether a condition begins here: "if it is sold out" asks nothing, but "do you know if it is" asks."""
    before = tokens[at - 1] if at else ""
    return (tokens[at] == "if" and before not in _KNOWING) or (tokens[at] == "case" and before == "in")


def _is_foreign(tokens: Sequence[str]) -> bool:
    strange = [token for token in tokens if token in FOREIGN_WORDS or not token.isascii()]
    foreign = len([token for token in strange if token[0] != ITEM_MARK])
    return foreign > 0 and foreign >= len([token for token in tokens if token in COMMON_WORDS])


def _is_counted(tokens: Sequence[str], at: int) -> bool:
    """Tell whether a number stands before the noun at ``at``: "do you want two desk lamps" asks for the quantity."""
    return at > 0 and tokens[at - 1] in _NUMBERS and (at < 2 or tokens[at - 2] not in _DETERMINERS)


def _event_at(tokens: Sequence[str], at: int, nouns: Nouns, topics: Topics) -> Event | None:
    items, length = item_at(tokens, at, nouns)
    phrase = _phrase_at(tokens, at, topics.phrases) if tokens[at] in topics.phrases else None
    taken = len(phrase.words) if phrase else 0
    # A longer phrase wins over a noun: "order number" does not name an order.
    if items and length >= taken:
        return Event(at, at + length, items=items)
    value, length = _value_at(tokens, at, topics.value_index)
    if value and length > taken:
        return Event(at, at + length, name=value)
    if phrase:
        return Event(at, at + taken, phrase.name, (), phrase.is_unknowable, phrase.yields_to, phrase.reach)
    return _number_at(tokens, at)


def _phrase_at(tokens: Sequence[str], at: int, phrases: Phrases) -> Phrase | None:
    for phrase in phrases[tokens[at]]:
        length = len(phrase.words)
        if length == 1:
            return None if _is_no_name(tokens, at) else phrase
        if tuple(tokens[at : at + length]) == phrase.words:
            return phrase
    return None


def _is_no_name(tokens: Sequence[str], at: int) -> bool:
    if tokens[at] in _DAYS and at > 0 and tokens[at - 1].isdigit():
        return True
    if tokens[at] not in NOT_NAMES:
        return False
    before, after = NOT_NAMES[tokens[at]]
    return (at > 0 and tokens[at - 1] in before) or (at + 1 < len(tokens) and tokens[at + 1] in after)


def _value_at(tokens: Sequence[str], at: int, values: Values) -> tuple[str, int]:
    """Return the attribute of the longest value that begins at a token, and its length in tokens; ``"", 0`` if none."""
    token = tokens[at]
    found, length = "", 0
    is_common = token in COMMON_WORDS
    if is_common and (at + 1 == len(tokens) or tokens[at + 1] in COMMON_WORDS):
        return found, length
    if not is_common and not token.isdigit():
        name = values.get(token)
        if name:
            found, length = name, 1
    phrase = token
    for count, following in enumerate(tokens[at + 1 : at + _LONGEST_VALUE], start=2):
        if following in _BREAKS:
            break
        phrase = f"{phrase} {following}"
        name = values.get(phrase)
        if name:
            found, length = name, count
    return found, length


def _number_at(tokens: Sequence[str], at: int) -> Event | None:
    token = tokens[at]
    if token[0] == "$":
        return Event(at, at + 1, name="price", is_bare_number=True)
    if not token[0].isdigit():
        return None
    joined = _NUMBER_WITH_UNIT.fullmatch(token)
    unit = joined[1] if joined else tokens[at + 1] if at + 1 < len(tokens) else ""
    name = UNITS.get(unit)
    return Event(at, at + 1 if joined else at + 2, name=name, is_bare_number=True) if name else None
