"""Reading product cards: which facts a customer stated, and which cards meet them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from rapidfuzz import fuzz

from ecom_rlve.envs.language.phrases import LABELS
from ecom_rlve.envs.reading.facts import FactReader, Found, hits_in
from ecom_rlve.evaluation.expert.cards import NUMBER_FILTERS
from ecom_rlve.models import DomainCode, Observation, ToolResult
from ecom_rlve.training.learning.matching import Mention, forms_of, mentions_in, singular
from ecom_rlve.training.learning.notebook import Notebook, use
from ecom_rlve.training.learning.policy import Candidate
from ecom_rlve.training.learning.skills.cards import WORDS, Card, Stated
from ecom_rlve.training.learning.skills.open_words import open_words_in

PRIORITIES = {"price": "price", "rating": "rating", "delivery time": "ship_days", "brand": "brand"}
"""What may matter most, and the attribute that it is about."""
KINDS = ("price", "priority", *NUMBER_FILTERS, *WORDS)
_LABELS = {"priority": "top priority"}
_LABEL_PAIRS = tuple(sorted({**LABELS, **_LABELS}.items()))
_SENTENCE = re.compile(r"(?<=[.!?]) ")
_WORD = re.compile(r"[\w'&-]+")
_MOST_SENTENCES = 7
_PAGE = 10
_QUOTED = 88.0
"""From this likeness on a title counts as named."""


Filters = frozenset[tuple[str, Any]]
_NO_FILTERS = ("query", "limit", "offset", "sort")


def key_of(args: Mapping[str, Any]) -> Filters:
    """Return by what a search filters."""
    return frozenset((name, value) for name, value in args.items() if name not in _NO_FILTERS)


@dataclass(slots=True)
class Search:
    """What searches with the same filters have shown."""

    total: int = 0
    """Products that pass."""
    pages: int = 0
    seen: set[str] = field(default_factory=set)


class ShelfNotes(Notebook):
    """Notes of the cards that tools have shown, and of what was said about things of their kinds."""

    def __init__(self, opening: Observation) -> None:
        self.cards: dict[str, Card] = {}
        self.visited: dict[str, None] = {}
        self.full: set[str] = set()
        """Ids of products of which everything was shown."""
        self.searches: dict[Filters, Search] = {}
        """What searches by category have shown, by their filters."""
        self._sent: dict[str, Any] = {}
        """Arguments of the call whose result is still to come."""
        self._refuted: set[tuple[str, str]] = set()
        """Words that were taken for values of an attribute, which no product has."""
        self._facts: dict[str, list[Stated]] | None = None
        super().__init__(opening)

    def read(self, seen: Observation) -> None:
        self._facts = None
        super().read(seen)

    def note(self, chosen: Candidate) -> None:
        super().note(chosen)
        self._sent = next((each["args"] for each in chosen.action.get("tool_calls", ())), {})

    def take(self, result: ToolResult) -> None:
        fields = result.result or {}
        if result.name == "catalog_search":
            self._take_search(result)
        if result.name in ("catalog_search", "user_get_visit_history"):
            for card in fields.get("results", ()):
                self.cards[card["product_id"]] = {**self.cards.get(card["product_id"], {}), **card}
            if result.name == "user_get_visit_history":
                self.visited |= dict.fromkeys(card["product_id"] for card in fields.get("results", ()))

    def _take_search(self, result: ToolResult) -> None:
        filters = key_of(self._sent)
        if result.code == DomainCode.UNKNOWN_FILTER_VALUE:
            said = {(name, value) for name, value in filters if isinstance(value, str)}
            self._refuted |= {(name, value) for name, value in said if repr(value) in (result.error or "")}
        elif result.result is not None:
            search = self.searches.setdefault(filters, Search())
            search.total = result.result["total"]
            search.pages += 1
            search.seen |= {card["product_id"] for card in result.result["results"]}

    def things(self) -> list[str]:
        """Return the categories that the customer speaks of, in the order of their first mention."""
        return list(self.facts())

    def facts(self) -> dict[str, list[Stated]]:
        """Return what was said about each thing: of one attribute, what was said last."""
        if self._facts is None:
            self._facts = self._read_facts()
        return self._facts

    def _read_facts(self) -> dict[str, list[Stated]]:
        names = tuple(sorted({card["category"] for card in self.cards.values()}))
        by_message = [mentions_in(message, names) for message in self.said]
        things: dict[str, dict[str, Stated]] = {each.name: {} for found in by_message for each in found}
        nouns = tuple(sorted({form for name in things for form in forms_of(name)}))
        vocabulary = self._vocabulary()
        for message, mentions in zip(self.said, by_message, strict=True):
            found = _facts_in(message, nouns, vocabulary)
            unproved = self._unproved(message, found, nouns)
            for fact in (*unproved, *found, *_brands_in(message, (*found, *unproved), vocabulary)):
                about = _about(fact, mentions) or next(iter(things), "")
                if about:
                    known = things[about]
                    known.pop(fact.kind, None)
                    known[fact.kind] = Stated(fact.kind, fact.op, fact.value)
        return {name: list(known.values()) for name, known in things.items()}

    def _unproved(self, message: str, known: Iterable[Found], nouns: tuple[str, ...]) -> list[Found]:
        """Return what a message says in words that no card has shown yet."""
        return [
            each
            for each in open_words_in(message, WORDS, _LABEL_PAIRS)
            if (each.kind, each.value) not in self._refuted
            and each.value.casefold() not in nouns
            and not any(each.start < other.end and other.start < each.end for other in known)
        ]

    def _vocabulary(self) -> frozenset[tuple[str, str]]:
        """Return the words that cards have shown, each with its attribute."""
        return frozenset(
            (name, card[name]) for card in self.cards.values() for name in WORDS if isinstance(card.get(name), str)
        )

    def called(self, thing: str) -> str:
        """Return what one of a category is called, by the customer if they have said it."""
        said = [form for form in sorted(forms_of(thing), key=len) if form in self.text.casefold()]
        return said[0] if said else singular(thing)

    def of(self, thing: str) -> list[Card]:
        """Return the cards of a category, in the order in which they were shown."""
        return [card for card in self.cards.values() if card["category"] == thing]

    def sentence_searches(self) -> Iterator[Candidate]:
        """Yield searches with what the first message states: all of it, and each sentence, also without its facts."""
        telling = [each for each in _SENTENCE.split(self.first) if hits_in(each, _LABEL_PAIRS)]
        known = tuple(self.things())
        queries = {" ".join(telling): "stated"}
        for each in telling:
            queries.setdefault(_without_facts(each), f"rest,{bool(mentions_in(each, known))}")
        for each in telling:
            queries.setdefault(each, f"sentence,{bool(mentions_in(each, known))}")
        for query, kind in list(queries.items())[:_MOST_SENTENCES]:
            if query:
                yield Candidate("search sentence", use("catalog_search", query=query[:900], limit=_PAGE), (kind,))

    def words_shared(self, card: Card) -> int:
        """Return how many of the words that a card shows as values the customer has used, facts or not."""
        said = _spaced(self.text)
        return sum(f" {value.casefold()} " in said for name in WORDS if isinstance(value := card.get(name), str))

    def named_in(self, message: str) -> set[str]:
        """Return the ids of the cards whose titles a message holds."""
        if not message:
            return set()
        return {
            each
            for each, card in self.cards.items()
            if fuzz.partial_ratio(card["title"].rstrip("…"), message) >= _QUOTED
        }


@lru_cache(maxsize=1 << 12)
def _without_facts(sentence: str) -> str:
    """Return a sentence without what states a fact in it: what is left holds what the thing is called."""
    kept = sentence
    for hit in hits_in(sentence, _LABEL_PAIRS):
        kept = kept.replace(sentence[hit.start : hit.end], " ")
    return " ".join(kept.split())


@lru_cache(maxsize=1 << 12)
def _facts_in(message: str, nouns: tuple[str, ...], vocabulary: frozenset[tuple[str, str]]) -> tuple[Found, ...]:
    """Return the facts of a message; the episodes of a group mostly ask for the same ones."""
    words: dict[str, dict[str, str]] = {"priority": {each: each for each in PRIORITIES}}
    for name, value in sorted(vocabulary):
        words.setdefault(name, {})[value] = value
    return tuple(FactReader(words, _LABELS).facts_in(message, KINDS, nouns))


def _brands_in(message: str, found: Iterable[Found], vocabulary: frozenset[tuple[str, str]]) -> list[Found]:
    """Return the brand that a message names although no frame says that it is wanted: hardly anybody names others'."""
    if any(each.kind == "brand" for each in found):
        return []
    named = sorted((message.find(value), value) for name, value in vocabulary if name == "brand" and value in message)
    if not named:
        return []
    values = tuple(value for _, value in named)
    start, end = named[0][0], named[-1][0] + len(named[-1][1])
    return [
        Found("brand", "eq" if len(values) == 1 else "any_of", values[0] if len(values) == 1 else values, start, end)
    ]


@lru_cache(maxsize=1 << 10)
def _spaced(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _about(fact: Found, mentions: tuple[Mention, ...]) -> str:
    """Return what a fact is about: the thing named within it, else the last one before it, else the first after."""
    within = [each.name for each in mentions if fact.start <= each.start <= fact.end + 1]
    before = [each.name for each in mentions if each.start < fact.start]
    after = [each.name for each in mentions]
    return (within or before[-1:] or after[:1] or [""])[0]
