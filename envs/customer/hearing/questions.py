"""Which sentences ask, and which attributes of which items they ask for.

A sentence is cut into clauses, and a clause into events: an item is named, or an attribute. Within a clause attributes
belong to the items next to them. A clause without items takes those of its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ecom_rlve.envs.customer.hearing.topics import Question

_LEAD = (
    r"\W*(?:(?:and|but|so|ok|okay|hi|hello|hey|thanks|great|sure|also|then|now|well|please|first|next|finally|perfect"
    r"|alright|sorry|lastly|second|third)\b\W*)*"
)
_QUESTION = re.compile(
    _LEAD
    + r"(?:(?:what|which|how)(?!\s+(?:i|we|you|an?|it|they|is why|means|nice|great|lovely|wonderful|kind|happy)\b)"
    r"|do you|did you|would you|could you|can you|will you|should i|shall i|may i|can i"
    r"|(?:when|where|were|why|who)(?:'s|'d| (?:is|are|was|were|do|does|did|has|have|can|must|should|will|would|to))"
    r"|(?:is|are|was|were|does|did|has|must|would) (?:it|its|they|that|this|these|those|there|you|your|the|a|an)"
    r"|have you|will (?:it|they|that|this|the))\b"
)
_PROMPT = re.compile(
    _LEAD + r"(?:enter|state|indicate|input|provide|fill in"
    r"|(?:select|choose|pick|name|list|describe|give|give me|send me) (?:the|your|a|an|one|its|any|some|all|remaining)"
    r"(?! (?:moment|second|sec|minute|bit|shot|try|go|hand|look|nice|great|wonderful|good|lovely)\b))\b"
)
"""An entry of a form: "enter the size", "give me a number"."""
_REQUEST = re.compile(
    r"(?<!n't )(?<!not )(?<!to )\b(?:tell me|let me know)\b"
    r"|\b(?:i|we)(?:'d| would|'ll)?(?: (?:just|still|only|also|first|now))* (?:need|want|have|like|love|must)"
    r"(?: to)? (?:know|ask|hear|confirm|clarify)\b"
    r"|\b(?:please|kindly)(?: also)? (?:specify|share|provide|state|clarify|name|give|describe|choose|pick|select"
    r"|indicate|confirm|advise|tell|answer|say|mention|list|enter|write|type|send)\b"
    r"|\b(?:i(?:'m| am) (?:wondering|curious|asking)|i wonder|may i ask)\b"
    r"|\bcould you (?:please )?(?:tell|specify|confirm)\b"
    r"|\bi(?:'d| would|'ll| will)?(?: (?:still|just|only|also))+ need (?:the|your|its)\b"
    r"|^" + _LEAD + r"(?:specify|clarify|tell me|confirm (?:the|your|which|what|how))\b"
)
# Each alternative of the pattern holds one of these words; looking for them first is many times faster.
_REQUEST_HINTS = (
    "need", "tell", "know", "ask", "hear", "please", "kindly", "wonder", "curious", "specify", "clarify", "confirm",
)  # fmt: skip


class Event(NamedTuple):
    """Something that a clause names: items, an attribute, or a thing that no customer knows."""

    start: int
    end: int
    """Positions of its words in the sentence, end exclusive."""
    name: str = ""
    """Name of the attribute; empty if items are named."""
    items: tuple[int, ...] = ()
    is_unknowable: bool = False
    yields_to: frozenset[str] = frozenset()
    """If one of these attributes begins at most ``reach`` words later, the question is for that attribute."""
    reach: int = 0
    is_bare_number: bool = False
    """A number with a unit. It names the attribute of that unit only if the clause names no other."""
    others: tuple[str, ...] = ()
    """What else its words may mean: "how big" names the size, and may mean a length."""
    is_vague: bool = False
    """Its words, a value or a number name no topic of the set rather than another."""
    is_label: bool = False
    """Its words are what a kind of fact is called: nothing else is meant."""

    @property
    def topics(self) -> tuple[str, ...]:
        """The whole set of topics that its words name."""
        return (self.name, *self.others) if self.name else ()


Events = list[Event]
Names = tuple[str, ...]
Group = tuple[list[Names], tuple[int, ...]]

_LONGEST_OFFER = 8
"""Words of a sentence that may take up an offer; a longer one is about something else."""
_ALL_OFFERED = frozenset(("both", "all", "either", "each", "everything"))
_PLACES = {"first": 0, "former": 0, "second": 1, "latter": 1, "third": 2, "last": -1}


def is_question(sentence: str) -> bool:
    """Tell whether a casefolded sentence is worded as a question, with or without a question mark.

    Exclamations ("how nice") are none.
    """
    return _QUESTION.match(sentence) is not None and not sentence.rstrip().endswith("!")


def is_request(sentence: str) -> bool:
    """Tell whether a casefolded sentence asks to be told something."""
    if _PROMPT.match(sentence):
        return True
    return any(hint in sentence for hint in _REQUEST_HINTS) and _REQUEST.search(sentence) is not None


def questions_in(clauses: Sequence[Events]) -> list[Question]:
    """Return what the clauses of a question ask for, in order of mention."""
    pairs = _Pairs()
    for clause in clauses:
        pairs.take(_naming(clause))
    return pairs.closed()


def _naming(clause: Events) -> Events:
    """Return the events that count, without words that belong to the question for another attribute."""
    if len(clause) < 2 and not (clause and clause[0].is_unknowable):
        return clause
    attributes = [event for event in clause if event.name and not event.is_unknowable]
    starts, ends = {event.start for event in attributes}, {event.end for event in attributes}
    kept = []
    for event in clause:
        if event.is_unknowable:
            continue
        # "Which colour variant" asks for the colour.
        is_echo = event.name == "variant" and (event.start in ends or event.end in starts)
        if not is_echo and not (event.yields_to and _is_absorbed(event, attributes)):
            kept.append(event)
    return kept


def _is_absorbed(event: Event, attributes: Sequence[Event]) -> bool:
    return any(other.name in event.yields_to and 0 <= other.start - event.end <= event.reach for other in attributes)


class _Pairs:
    """Attaches attributes to items clause by clause."""

    def __init__(self) -> None:
        self._pairs: list[Question] = []
        self._waiting: list[Names] = []
        """Attributes for which no item has been named yet."""
        self._items: tuple[int, ...] = ()
        """Items that belong to the next attribute that has none next to it."""
        self._open_attributes: list[Names] = []
        """Attributes whose list of items may continue: "which colour for the lamp, the fan and the top"."""
        self._lists_items = False

    def take(self, clause: Events) -> None:
        attributes = [event.topics for event in clause if event.name]
        items = tuple(item for event in clause for item in event.items)
        if attributes and items:
            self._take_both(_groups(clause), attributes_first=bool(clause[0].name))
        elif items:
            self._take_items(items)
        elif attributes:
            self._take_attributes(attributes)

    def closed(self) -> list[Question]:
        return self._pairs + [Question(None, topics) for topics in self._waiting]

    def _take_items(self, items: tuple[int, ...]) -> None:
        attributes = self._waiting or self._open_attributes
        self._attach(attributes, items)
        if self._waiting:
            self._open_attributes, self._waiting = self._waiting, []
        self._items = self._items + items if self._lists_items else items
        self._lists_items = True

    def _take_attributes(self, attributes: list[Names]) -> None:
        self._lists_items = False
        self._open_attributes = []
        if self._items:
            self._attach(attributes, self._items)
        else:
            self._waiting += attributes

    def _take_both(self, groups: list[Group], *, attributes_first: bool) -> None:
        self._attach(self._waiting, groups[0][1])
        self._waiting = []
        for attributes, items in groups:
            self._attach(attributes, items)
        attributes, self._items = groups[-1]
        self._open_attributes = attributes if attributes_first else []
        self._lists_items = False

    def _attach(self, attributes: Sequence[Names], items: tuple[int, ...]) -> None:
        self._pairs += [Question(item, topics) for topics in attributes for item in items]


def _groups(clause: Events) -> list[Group]:
    """Return runs of attributes with the items next to them; a last run without either takes its neighbour's."""
    if len(clause) == 2:
        first, second = clause
        return [([first.topics or second.topics], first.items or second.items)]
    groups: list[Group] = [([], ())]
    starts_with_attribute = bool(clause[0].name)
    for event in clause:
        attributes, items = groups[-1]
        opens = bool(event.name) == starts_with_attribute
        if opens and (items if starts_with_attribute else attributes):
            attributes, items = [], ()
            groups.append((attributes, items))
        if event.name:
            attributes.append(event.topics)
        groups[-1] = (attributes, items + event.items)
    attributes, items = groups[-1]
    if len(groups) > 1 and not (attributes and items):
        before = groups[-2]
        groups[-1] = (attributes or before[0], items or before[1])
    return groups


def taken_up(tokens: Sequence[str], named: Events, offered: Sequence[Question]) -> list[Question]:
    """Return the questions of an offer that a sentence takes up; none if it is about something else.

    ``named``: what its words name.
    """
    if not offered or len(tokens) > _LONGEST_OFFER:
        return []
    by_name = [
        question for question in offered if any(question.topics[0] in event.topics[:1] for event in named if event.name)
    ]
    if by_name:
        return by_name
    if not _ALL_OFFERED.isdisjoint(tokens):
        return list(offered)
    places = dict.fromkeys(_PLACES[token] for token in tokens if token in _PLACES)
    return [offered[place] for place in places if place < len(offered)]
