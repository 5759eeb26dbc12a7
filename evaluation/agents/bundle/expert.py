"""The expert for BUNDLE: learns what a project needs, searches each thing by price, submits the cheapest that fit."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, call
from ecom_rlve.evaluation.agents.skill import Skill
from ecom_rlve.evaluation.reading import language
from ecom_rlve.evaluation.reading.item_notes import Vocabulary
from ecom_rlve.evaluation.reading.thing_notes import Filters, ThingNotes, meets, naming
from ecom_rlve.models import ToolResult

Sent = tuple[dict[str, Any], Callable[[ToolResult], None]]
"""A call and what to do with its result."""

_COUNT = re.compile(r"needs (\d+) different")
_NEEDED = re.compile(r"(\w+) an? (?!\d)([^$\d]+)$")
_PART = re.compile(r",\s|;\s?|:\s|\sand\s")
_HAVING = ("have", "has", "with", "list", "include", "including")
_SHORT_TALK = 4
"""Turn budget of conversations in which nothing sells out."""
_PAGE = 10
_FIRST_PAGE = 5
_LOOK_UPS = 2
_ASKED_AT_MOST = 2
_FACTS_PER_QUESTION = 3
_SEARCHES = 3
_PROPOSALS = 2
_MANNERS = ("", "cheap ", "inexpensive ")


class BundleExpert:
    """Plays one BUNDLE episode."""

    def __init__(self, skill: Skill | None = None) -> None:
        self._skill = skill or Skill()
        self._vocabulary = Vocabulary()
        self._count: int | None = None
        """How many kinds of things the brief speaks of."""
        self._has_budget = False
        self._phrases: list[str] = []
        """Things needed whose category is not known yet, in the customer's words."""
        self._heard: list[str] = []
        """Sentences that may say what a thing should be like."""
        self._things: list[ThingNotes] = []
        self._total_told = -1
        """Requirements known when they were last asked for."""
        self._sent: list[Sent] = []
        self._is_long = False
        self._proposals = 0

    def act(self, result: StepResult) -> Action:
        """Return the next action."""
        observation = result.observation
        if observation.max_turns is not None:
            self._is_long = observation.max_turns > _SHORT_TALK
            count = _COUNT.search(observation.instructions or "")
            self._count = int(count[1]) if count else None
        for answer, (_, take) in zip(observation.tool_results, self._sent, strict=False):
            self._vocabulary.learn((answer.result or {}).get("results", []))
            take(answer)
        self._hear(observation.user_message)
        is_piecemeal = result.metadata.style == "tool"
        action, self._sent = self._decide(observation.tool_calls_left, observation.turns_left, is_piecemeal)
        action["tool_calls"] = [sent for sent, _ in self._sent]
        return action

    def _hear(self, text: str) -> None:
        for sentence in language.sentences(text):
            needed = [phrase for part in _PART.split(sentence.rstrip(".!")) if (phrase := _thing_needed(part))]
            self._phrases += [phrase for phrase in needed if not any(thing.is_called(phrase) for thing in self._things)]
            if language.prices(sentence):
                self._has_budget = True
            elif not needed and sentence not in self._heard:
                self._heard.append(sentence)
        for thing in self._things:
            thing.text = [sentence for sentence in self._heard if naming(self._things, sentence) is thing]

    def _decide(self, room: int, turns_left: int, is_piecemeal: bool) -> tuple[Action, list[Sent]]:
        is_last = turns_left <= 1
        calls: list[Sent] = []
        if not is_last:
            calls = [self._place(phrase) for phrase in dict.fromkeys(self._phrases)]
            calls += [sent for thing in self._things if (sent := self._search(thing))]
        if is_piecemeal and calls and room:
            return {"end_turn": False}, calls[:1]
        question = self._question() if turns_left > 2 else ""
        if calls or question:
            return ({"assistant_message": question} if question else {}), calls[:room]
        return {"answer": self._answer(is_last=is_last)}, []

    def _answer(self, *, is_last: bool) -> dict[str, Any]:
        chosen = [product_id for thing in self._things if (product_id := self._chosen(thing))]
        is_proposal = self._skill.guesses and not is_last and self._proposals < _PROPOSALS
        self._proposals += 1
        return {"done": not is_proposal, "recommended_product_ids": chosen}

    def _chosen(self, thing: ThingNotes) -> str | None:
        if not self._skill.compares:
            return thing.first[0]["product_id"] if thing.first else None
        if not self._skill.filters:
            filters, _ = thing.meant(self._vocabulary)
            fitting = [card for card in thing.first if meets(card, filters) is not False] or thing.first
            return fitting[0]["product_id"] if fitting else None
        card = thing.best(minds_stock=self._skill.minds_stock)
        return card["product_id"] if card else None

    def _place(self, phrase: str) -> Sent:
        """Return a search that finds out which category a thing is of."""

        def take(answer: ToolResult) -> None:
            cards = (answer.result or {}).get("results", [])
            self._phrases = [other for other in self._phrases if other != phrase]
            found = [ThingNotes(category) for category in dict.fromkeys(card["category"] for card in cards)]
            thing = naming(found, phrase) or next(iter(found), None)
            if thing is None or any(thing.category == other.category for other in self._things):
                return
            thing.first = [card for card in cards if card["category"] == thing.category]
            self._things.append(thing)

        limit = _PAGE if self._skill.filters else _FIRST_PAGE
        return call("catalog_search", query=phrase[:400], limit=limit), take

    def _search(self, thing: ThingNotes) -> Sent | None:
        """Return the next look for a thing, None where enough is known of what is on offer."""
        if not self._skill.compares or not self._skill.filters:
            return None
        filters, unread = thing.meant(self._vocabulary)
        if unread and thing.looked_up < _LOOK_UPS:
            return self._look_up(thing, " ".join(unread))
        if filters != thing.filters:
            return self._search_with(thing, filters)
        best = thing.best(minds_stock=self._skill.minds_stock)
        if best is None:
            return self._search_with(thing, filters) if thing.searches < _SEARCHES else None
        is_checked = self._is_long and self._skill.minds_stock
        enough = 2 if is_checked or not meets(best, filters) else 1
        if thing.sightings[best["product_id"]] >= enough:
            return None
        return self._search_with(thing, filters) if thing.searches < 2 else self._look_at(thing, best["product_id"])

    def _search_with(self, thing: ThingNotes, filters: Filters) -> Sent:
        is_new = filters != thing.filters
        # A repeated search gives the same page; other words draw other distractors.
        query = f"{'' if is_new else _MANNERS[thing.searches % len(_MANNERS)]}{thing.noun}"

        def take(answer: ToolResult) -> None:
            if is_new:
                thing.filters, thing.searches, thing.cards, thing.sightings = filters, 0, {}, {}
            thing.searches += 1
            thing.see((answer.result or {}).get("results", []))

        sent = call("catalog_search", query=query, category=thing.category, sort="price_asc", limit=_PAGE, **filters)
        return sent, take

    def _look_at(self, thing: ThingNotes, product_id: str) -> Sent:
        """Return a look at one product: whether it is still there, and what its card has no room for."""

        def take(answer: ToolResult) -> None:
            thing.see([card for card in ((answer.result or {}).get("product"),) if card])

        return call("catalog_get_product", product_id=product_id), take

    def _look_up(self, thing: ThingNotes, said: str) -> Sent:
        """Return a search that shows in which words the shop says what the customer said."""
        query = f"{said} {thing.noun}" if thing.looked_up else said

        def take(_: ToolResult) -> None:
            thing.looked_up += 1

        return call("catalog_search", query=query[:400], category=thing.category, limit=_PAGE), take

    def _question(self) -> str:
        """Return what to ask next: budget and things first, then what they should be like."""
        if not self._skill.asks or self._skill.guesses:
            return ""
        asked = [] if self._has_budget else ["What is your total budget?"]
        if self._count is not None and len(self._things) + len(self._phrases) < self._count:
            return " ".join([*asked, "Which other things do you need?"])
        told = {thing.category: self._told(thing) for thing in self._things}
        most, total = max(told.values(), default=0), sum(told.values())
        new = [phrase for phrase in self._phrases if not any(language.likeness(phrase, said) for said in self._heard)]
        if total == self._total_told:
            return " ".join(asked)  # What was asked last brought nothing new.
        if not most and len(new) == len(self._phrases):
            self._total_told = total
            return " ".join([*asked, "What requirements do you have?"])
        lacking = [thing for thing in self._things if told[thing.category] < most and thing.asked < _ASKED_AT_MOST]
        names = [*new, *(thing.category for thing in lacking)][: _FACTS_PER_QUESTION - len(asked)]
        # The first that is named takes up the answer where it has enough to tell.
        for thing in lacking[: 1 if names and not new else 0]:
            thing.asked = thing.asked + 1 if thing.told == told[thing.category] else 1
            thing.told = told[thing.category]
        if names and not new:
            self._total_told = total
        return " ".join([*asked, *(f"What are your requirements for the {name}?" for name in names)])

    def _told(self, thing: ThingNotes) -> int:
        """Return how many requirements of a thing are known."""
        filters, unread = thing.meant(self._vocabulary)
        return len(filters) + len(unread)


def _thing_needed(part: str) -> str | None:
    """Return the thing that a part of a sentence says is needed: "include a desk lamp" tells of a desk lamp."""
    found = _NEEDED.search(part)
    if found is None or not any(language.likeness(word, found[1]) for word in _HAVING):
        return None
    return found[2]
