"""What the bundle expert knows of one kind of thing, and what the customer's words about it mean as search filters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ecom_rlve.evaluation.reading import language
from ecom_rlve.evaluation.reading.item_notes import Card, Vocabulary

Filters = dict[str, Any]

_FRAGMENT = re.compile(r",\s|;\s?|:\s|\sand\s(?!up\b)")
_DAYS = re.compile(r"(\d+) days?\b")
_RATING = re.compile(r"\b([0-5](?:\.\d)?)\b")
_UNIT_FILTERS = {"g": "weight_max", "w": "wattage_min", "ml": "capacity_min", "h": "battery_life_min"}
_CUES = {
    "color": ("colour", "color"),
    "material": ("made", "material"),
    "style": ("style",),
    "pattern": ("pattern",),
    "connector_type": ("connector",),
    "item_form": ("form",),
    "finish_type": ("finish", "finished"),
    "skin_type": ("skin",),
    "age_range": ("age",),
    "scent": ("scent",),
    "flavor": ("flavour",),
    "model": ("model", "line"),
    "size": ("size", "sized"),
}
"""Words by which a sentence says which attribute a value belongs to."""


@dataclass(slots=True)
class ThingNotes:
    """One kind of thing that the project needs."""

    category: str
    text: list[str] = field(default_factory=list)
    """The sentences about it."""
    first: list[Card] = field(default_factory=list)
    """What the search that found its kind showed, in order."""
    cards: dict[str, Card] = field(default_factory=dict)
    """What searches with the present filters showed, as last seen, by id."""
    sightings: dict[str, int] = field(default_factory=dict)
    """Searches with the present filters that showed a product, by id."""
    filters: Filters | None = None
    """Those of the last search; None before one."""
    searches: int = 0
    """Searches with the present filters."""
    looked_up: int = 0
    """Searches for words that no filter was known for."""
    asked: int = 0
    """Times that its requirements were asked for without anything new."""
    told: int = 0
    """Requirements known when they were last asked for."""

    @property
    def noun(self) -> str:
        """What one such thing is called."""
        return language.noun_forms(self.category)[1]

    def is_called(self, phrase: str) -> bool:
        """Tell whether a phrase, "a pair of sandals", names this very kind of thing."""
        return any(
            language.likeness(form, phrase) and phrase.rpartition(" of ")[2].count(" ") == form.count(" ")
            for form in language.noun_forms(self.category)
        )

    def meant(self, vocabulary: Vocabulary) -> tuple[Filters, list[str]]:
        """Return the filters that the requirements amount to, and the parts for which the shop's words are unknown."""
        filters: Filters = {}
        unread: list[str] = []
        for part in (part for sentence in self.text for part in _parts(sentence, self.category)):
            found = _filter_of(part, vocabulary.values.get(self.category, {}))
            filters |= found
            if not found:
                unread.append(part)
        return filters, unread

    def see(self, cards: Iterable[Card]) -> None:
        """Take note of what a search or a look with the present filters showed."""
        for card in cards:
            if card["category"] == self.category:
                self.cards[card["product_id"]] = card
                self.sightings[card["product_id"]] = self.sightings.get(card["product_id"], 0) + 1

    def best(self, *, minds_stock: bool) -> Card | None:
        """Return the cheapest product that surely meets the filters, else the cheapest that may."""
        filters = self.filters or {}
        fitting = [
            card
            for card in self.cards.values()
            if "price" in card and meets(card, filters) is not False and (card["in_stock"] or not minds_stock)
        ]
        sure = [card for card in fitting if meets(card, filters) or self.sightings[card["product_id"]] > 1]
        return min(sure or fitting, key=lambda card: card["price"], default=None)


def naming(things: Iterable[ThingNotes], sentence: str) -> ThingNotes | None:
    """Return the thing that a sentence names best, by its longest name on a tie."""
    scored = [
        (language.likeness(form, sentence), len(form), thing)
        for thing in things
        for form in language.noun_forms(thing.category)
    ]
    score, _, thing = max(scored, key=lambda entry: entry[:2], default=(0.0, 0, None))
    return thing if score else None


def meets(card: Card, filters: Filters) -> bool | None:
    """Tell whether a card meets the filters; None where it does not show all that they are about."""
    is_shown = True
    for name, wanted in filters.items():
        attribute = name.removesuffix("_min").removesuffix("_max")
        if attribute not in card:
            is_shown = False
            continue
        value = card[attribute]
        is_met = value <= wanted if name.endswith("_max") else value >= wanted if name.endswith("_min") else None
        if not (value == wanted if is_met is None else is_met):
            return False
    return True if is_shown else None


def _parts(sentence: str, category: str) -> list[str]:
    """Return the parts of a sentence that say more than which thing it is about."""
    names = {word for form in language.noun_forms(category) for word in form.split()} | _EMPTY_WORDS
    return [
        part
        for part in _FRAGMENT.split(sentence.rstrip(".!"))
        if any(not any(language.likeness(name, word) for name in names) for word in language.words(part))
    ]


_EMPTY_WORDS = frozenset((
    "the", "a", "an", "of", "as", "for", "regarding", "i", "i'd", "want", "would", "like", "love", "pair", "box", "bag",
    "tin", "please", "well", "hmm", "imagine", "it", "should", "pls", "thx",
))  # fmt: skip


def _filter_of(part: str, known: dict[str, set[str | float]]) -> Filters:
    if days := _DAYS.search(part):
        return {"ship_days_max": int(days[1])}
    if measures := language.measures_with_units(part):
        number, unit = measures[0]
        cm = "screen_size_min" if language.likeness("screen", part) else "length_max"
        return {_UNIT_FILTERS.get(unit, cm): number}
    is_rated = "out of" in part or any(language.likeness(word, part) for word in ("rating", "rated", "stars"))
    if is_rated and (stars := _RATING.search(part)):
        return {"rating_min": float(stars[1])}
    scored = []
    for name, values in sorted(known.items()):
        said = language.best_said(sorted(value for value in values if isinstance(value, str)), part)
        if said is not None:
            is_named = any(language.likeness(cue, part) for cue in _CUES.get(name, ()))
            scored.append((is_named, language.likeness(said, part), len(said), name, said))
    if not scored:
        return {}
    *_, name, said = max(scored)
    return {name: said}
