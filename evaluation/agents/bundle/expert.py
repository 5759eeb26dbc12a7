"""The expert for BUNDLE: asks what a project needs, searches each thing by price, submits the cheapest that fit."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ecom_rlve.evaluation.agent import call
from ecom_rlve.evaluation.agents.cards import Card, Filters, contradicts, filters_of, unproved
from ecom_rlve.evaluation.agents.interview import FACTS_PER_TURN, Topic
from ecom_rlve.evaluation.agents.scripted import Move, ScriptedExpert, Sent
from ecom_rlve.evaluation.agents.shelf import Shelf
from ecom_rlve.evaluation.agents.skill import Skill
from ecom_rlve.models import Observation, SaidFact, ToolResult

_COUNT = re.compile(r"needs (\d+) different")
_NEED, _BUDGET, _REQUIREMENT = Topic("need"), Topic("budget"), Topic("requirement")
_FIRST_PAGE = 5
_PROPOSALS = 2
_CENTS = 100
_MOST = 10
"""The cheapest products of a kind that are looked at, and as many again where they cost too much together."""


@dataclass(slots=True)
class _Thing:
    """One kind of thing that the project needs."""

    shelf: Shelf
    requirements: list[SaidFact] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=dict)
    """When products were last looked at, by id: the number of the action."""


class BundleExpert(ScriptedExpert):
    """Plays one BUNDLE episode."""

    def __init__(self, skill: Skill | None = None) -> None:
        super().__init__(skill)
        self._count = 0
        """How many kinds of things the project needs."""
        self._things: dict[str, _Thing] = {}
        """By the noun."""
        self._step = 0
        """Actions so far."""
        self._news = 0
        """The last one whose results showed something new: things sell out after such ones."""
        self._proposals = 0

    def _begin(self, opening: Observation) -> None:
        super()._begin(opening)
        count = _COUNT.search(opening.instructions or "")
        self._count = int(count[1]) if count else 0

    def _decide(self, room: int, turns_left: int) -> Move:
        self._step += 1
        self._note_things()
        if turns_left <= 1:
            return Move(answer=self._answer(is_last=True))
        is_asking = self._skill.asks and not self._skill.guesses and turns_left > 2
        topics = self._topics()[:FACTS_PER_TURN] if is_asking else []
        is_first = self._step == 1
        calls = self._looks() if is_first or not topics else []
        if turns_left == 2:
            # The last look before the answer: what was chosen may have sold out since it was shown.
            calls = [*self._checks(), *calls]
        if calls or topics:
            return Move(calls[:room], topics)
        checks = self._checks()
        return Move(checks[:room]) if checks else Move(answer=self._answer(is_last=False))

    def _note_things(self) -> None:
        project, *others = self._heard.items.values()
        for need in project.told:
            if need.slot == _NEED.name:
                self._things.setdefault(str(need.value), _Thing(Shelf(str(need.value))))
        for item in others:
            thing = self._things.setdefault(item.singular, _Thing(Shelf(item.singular, item.plural)))
            thing.requirements = item.latest()

    @property
    def _budget(self) -> int | None:
        """What all of it may cost, in cents."""
        facts = [fact for item in self._heard.items.values() for fact in item.told if fact.slot == _BUDGET.name]
        return int(str(facts[-1].value).split(".")[0]) if facts else None

    def _topics(self) -> list[Topic]:
        """Return what to ask for; who tells of a requirement names the thing."""
        wanted = [_BUDGET] if self._budget is None else []
        wanted.append(_REQUIREMENT)
        if len(self._things) < self._count:
            wanted.append(_NEED)
        return [topic for topic in wanted if topic not in self._interview.closed]

    def _looks(self) -> list[Sent]:
        """Return the searches that are needed: of each thing the next page, as long as one is needed."""
        looks = []
        is_too_dear = not self._is_lazy and self._is_too_dear()
        for thing in self._things.values():
            search = thing.shelf.search(self._filters(thing))
            if not search.looked or is_too_dear or not (self._is_lazy or self._chosen(thing)):
                sort, limit = ("relevance", _FIRST_PAGE) if self._is_lazy else ("price_asc", _MOST)
                pages = list(thing.shelf.looks(search, sort, _MOST))
                looks += [self._watched(thing, thing.shelf.call(search, page, limit)) for page in pages[:1]]
        return looks

    @property
    def _is_lazy(self) -> bool:
        return not (self._skill.compares and self._skill.filters)

    def _filters(self, thing: _Thing) -> Filters:
        if not self._skill.filters:
            return {}
        stock = {"in_stock": True} if self._skill.minds_stock else {}
        return {**stock, **filters_of(thing.requirements)}

    def _is_too_dear(self) -> bool:
        chosen = [card for thing in self._things.values() if (card := self._chosen(thing)) is not None]
        budget = self._budget
        return budget is not None and sum(round(card["price"] * _CENTS) for card in chosen) > budget

    def _chosen(self, thing: _Thing) -> Card | None:
        """Return the cheapest product that meets what is required, as far as it is known; None where none does."""
        shelf = thing.shelf
        if not self._skill.compares:
            return next(iter(shelf.cards.values()), None)
        fitting = [
            card
            for product_id, card in shelf.cards.items()
            if "price" in card
            and (card["in_stock"] or not self._skill.minds_stock)
            and not contradicts(card, thing.requirements, is_whole=product_id in shelf.whole)
        ]
        if not self._skill.filters:
            return next(iter(fitting), next(iter(shelf.cards.values()), None))
        return min(fitting, key=lambda card: float(card["price"]), default=None)

    def _checks(self) -> list[Sent]:
        """Return looks at what was chosen, where it may have sold out or its card does not show all that counts."""
        if self._is_lazy:
            return []
        checks = []
        for thing in self._things.values():
            card = self._chosen(thing)
            if card is None:
                continue
            product_id = card["product_id"]
            is_stale = self._is_long and self._skill.minds_stock and thing.checked.get(product_id, 0) <= self._news
            is_unproved = product_id not in thing.shelf.whole and bool(unproved(card, thing.requirements))
            if is_stale or is_unproved:
                checks.append(self._look_at(thing, product_id))
        return checks

    def _look_at(self, thing: _Thing, product_id: str) -> Sent:
        def take(answer: ToolResult) -> None:
            product = (answer.result or {}).get("product")
            if product is not None:
                thing.shelf.see([product], are_whole=True)
            thing.checked[product_id] = self._step

        return call("catalog_get_product", product_id=product_id), take

    def _watched(self, thing: _Thing, sent: Sent) -> Sent:
        made, take = sent

        def take_and_note(answer: ToolResult) -> None:
            known = set(thing.shelf.cards)
            take(answer)
            if thing.shelf.cards.keys() - known:
                self._news = self._step
            for card in (answer.result or {}).get("results", ()):
                thing.checked[card["product_id"]] = self._step

        return made, take_and_note

    def _answer(self, *, is_last: bool) -> dict[str, Any]:
        chosen = [card["product_id"] for thing in self._things.values() if (card := self._chosen(thing)) is not None]
        is_proposal = self._skill.guesses and not is_last and self._proposals < _PROPOSALS
        self._proposals += 1
        return {"done": not is_proposal, "recommended_product_ids": chosen}
