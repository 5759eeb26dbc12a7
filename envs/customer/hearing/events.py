"""Finds in an agent's sentence what it names: items, attributes by their words and values, things that nobody knows.

The sentence is cut into clauses, and a clause into parts at "and": each part is one thing to ask.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ecom_rlve.catalog.shop_words.currencies import is_amount
from ecom_rlve.catalog.shop_words.splitting import singular_word
from ecom_rlve.envs.customer.hearing.claims import ITEM_MARK
from ecom_rlve.envs.customer.hearing.nouns import Nouns, item_at
from ecom_rlve.envs.customer.hearing.question_words import (
    ALSO_ENGLISH,
    COMMON_WORDS,
    FOREIGN_WORDS,
    NOT_NAMES,
    SAME_UNITS,
    UNITS,
    Phrase,
    Phrases,
)
from ecom_rlve.envs.customer.hearing.questions import Event
from ecom_rlve.envs.customer.hearing.topics import Topics, Values
from ecom_rlve.envs.language.phrases import NUMBER_WORDS

_LONGEST_VALUE = 4
"""Number of words of the longest value that is looked for."""
_NUMBER_WITH_UNIT = re.compile(r"\d+(?:\.\d+)?([a-z]+)")
_BREAKS = frozenset(",;:()—–")
_JOINTS = frozenset(("and", "or"))
LINKS = frozenset(("and", "plus", "also", "n"))
"""Words that join two things asked for."""
_QUESTION_WORDS = frozenset(("what", "which", "how", "what's", "do", "would", "also"))
_NUMBERS = frozenset(NUMBER_WORDS[1:]) | frozenset(map(str, range(1, 11)))
_CONDITIONS = frozenset(("if", "case"))
_KNOWING = frozenset(("know", "me", "say", "check", "sure", "wondering", "wonder", "confirm", "see", "tell"))
_DETERMINERS = frozenset(("the", "these", "those", "which", "your", "both", "all"))
_DAYS = frozenset(("day", "days"))
"""After a number these words measure a time; otherwise they may name a date."""
_MONEY = ("budget", "price_paid", "order_total", "order_amount")
"""What an amount of money may be, besides a price."""
_ITEM = "item"
"""What stands for a noun in the words of a part."""


@dataclass(slots=True)
class Part:
    """A stretch of a clause that may ask for one thing."""

    events: list[Event] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    """Its words, with ``item`` for the noun of a thing."""


Clause = list[Part]


def is_foreign(tokens: Sequence[str]) -> bool:
    """Tell whether a sentence has as many words of other languages as common English ones.

    Those that are English too count only beside another.
    """
    strange = [token for token in tokens if token in FOREIGN_WORDS or not (token.isascii() or token in _BREAKS)]
    if ALSO_ENGLISH.issuperset(strange):
        return False
    foreign = len([token for token in strange if token[0] != ITEM_MARK])
    return foreign > 0 and foreign >= len([token for token in tokens if token in COMMON_WORDS])


def clauses_of(written: Sequence[str], tokens: Sequence[str], nouns: Nouns, topics: Topics) -> list[Clause]:
    """Return the clauses of a sentence, with what their parts name.

    ``written``: its words as they were written, in which things and values are looked for; ``tokens``: as they were
    meant, one for each.
    """
    clauses: list[Clause] = [[Part()]]
    is_condition = False
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token in _BREAKS or (token in _JOINTS and at + 1 < len(tokens) and tokens[at + 1] in _QUESTION_WORDS):
            clauses.append([Part()])
            is_condition = False
            at += 1
            continue
        if token in LINKS:
            clauses[-1].append(Part())
        part = clauses[-1][-1]
        is_condition |= _opens_condition(tokens, at)
        is_filler = _is_filler(tokens, at, nouns, topics.phrases)
        event = None if is_filler else _event_at(written, tokens, at, nouns, topics)
        end = at + 1 if event is None else event.end
        if event is not None:
            if event.items and _is_counted(tokens, at):
                part.events.append(Event(at - 1, at, name="quantity", others=("units_bought",)))
            if not (is_condition and event.is_unknowable) and not _is_echo(event, part.events):
                part.events.append(event)
        is_noun = event is not None and event.items and not COMMON_WORDS.issuperset(tokens[at:end])
        part.words += [_ITEM] if is_noun else tokens[at:end]
        at = end
    said = ([part for part in clause if part.words] for clause in clauses)
    return [_without_bare_numbers(clause) for clause in said if clause]


def _is_echo(event: Event, before: Sequence[Event]) -> bool:
    """Tell whether a value stands after the word for what it is a value of: "the size 3xl" asks for one thing."""
    named = next((each.topics for each in reversed(before) if each.name), ())
    return event.is_vague and not set(event.topics).isdisjoint(named)


def _without_bare_numbers(clause: Clause) -> Clause:
    """Drop bare numbers from a clause that names something else: "is the order total $20" asks for the total only."""
    if any(event.name and not event.is_bare_number for part in clause for event in part.events):
        for part in clause:
            part.events = [event for event in part.events if not event.is_bare_number]
    return clause


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


def _is_counted(tokens: Sequence[str], at: int) -> bool:
    """Tell whether a number stands before the noun at ``at``: "do you want two desk lamps" asks for the quantity."""
    return at > 0 and tokens[at - 1] in _NUMBERS and (at < 2 or tokens[at - 2] not in _DETERMINERS)


def _event_at(written: Sequence[str], tokens: Sequence[str], at: int, nouns: Nouns, topics: Topics) -> Event | None:
    items, length = item_at(written, at, nouns)
    phrase = _phrase_at(tokens, at, topics.phrases) if tokens[at] in topics.phrases else None
    taken = len(phrase.words) if phrase else 0
    # A longer phrase wins over a noun: "order number" does not name an order.
    if items and length >= taken:
        return Event(at, at + length, items=items)
    owners, length = _value_at(written, at, topics.value_index)
    if owners and length > taken:
        return Event(at, at + length, name=owners[0], is_vague=True, others=owners[1:])
    if phrase:
        return Event(
            at,
            at + taken,
            phrase.name,
            is_unknowable=phrase.is_unknowable,
            yields_to=phrase.yields_to,
            reach=phrase.reach,
            others=phrase.others,
            is_vague=phrase.is_vague,
            is_label=phrase.is_label,
        )
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


def _value_at(tokens: Sequence[str], at: int, values: Values) -> tuple[tuple[str, ...], int]:
    """Return the attributes of the longest value that begins at a token, and its length in tokens; ``(), 0`` if none.

    Several attributes may have it: "lavender" is a colour and a scent.
    """
    token = tokens[at]
    found: tuple[str, ...] = ()
    length = 0
    is_common = token in COMMON_WORDS
    if is_common and (at + 1 == len(tokens) or tokens[at + 1] in COMMON_WORDS):
        return found, length
    if not is_common and not token.isdigit():
        found = _owners(token, values)
        length = 1 if found else 0
    before = ""
    for count, following in enumerate(tokens[at : at + _LONGEST_VALUE], start=1):
        if following in _BREAKS:
            break
        owners = _owners(following, values, before) if before else ()
        if owners:
            found, length = owners, count
        before += f"{following} "
    return found, length


def _owners(word: str, values: Values, before: str = "") -> tuple[str, ...]:
    """Return the attributes of a value that ends in a word, in either spelling and number: "grey", "stripes"."""
    return values.get(before + word) or values.get(before + singular_word(word)) or ()


def _number_at(tokens: Sequence[str], at: int) -> Event | None:
    token = tokens[at]
    if is_amount(token):
        return Event(at, at + 1, name="price", is_bare_number=True, is_vague=True, others=_MONEY)
    if not token[0].isdigit():
        return None
    joined = _NUMBER_WITH_UNIT.fullmatch(token)
    unit = joined[1] if joined else tokens[at + 1] if at + 1 < len(tokens) else ""
    name = UNITS.get(unit)
    if not name:
        return None
    end = at + 1 if joined else at + 2
    return Event(at, end, name, is_bare_number=True, is_vague=True, others=SAME_UNITS.get(name, ()))
