"""The expert for BUNDLE: asks what a project needs, searches each thing by price, submits the cheapest that fit."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from ecom_rlve.evaluation.expert.cards import Card, Filters, contradicts, filters_of, unproved
from ecom_rlve.evaluation.expert.interview import FACTS_PER_TURN, Topic
from ecom_rlve.evaluation.expert.scripted import Move, ScriptedExpert, Sent
from ecom_rlve.evaluation.expert.shelf import Shelf
from ecom_rlve.evaluation.expert.skill import Skill
from ecom_rlve.models import Observation, SaidFact

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
        # What is seen while there is still to ask is seen again before the answer.
        calls = self._looks([thing for thing in self._things.values() if not (topics and thing.shelf.cards)])
        if turns_left == 2:
            # The last look before the answer: what was chosen may have sold out since it was shown.
            calls = [*self._checks(), *calls]
        if calls or topics:
            is_sure = self._budget is None or len(self._things) < self._count or self._is_unsaid()
            return Move(calls[:room], topics, is_sure=is_sure)
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
        for thing in self._things.values():
            thing.shelf.batch = self._step

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

    def _is_unsaid(self) -> bool:
        """Tell whether less is known of what is required of one thing than of another: of each it is about as much."""
        counts = [len(thing.requirements) for thing in self._things.values()]
        return any(count < max(1, *counts) for count in counts)

    def _looks(self, things: Collection[_Thing]) -> list[Sent]:
        """Return the searches that are needed: of each of the things the next page, as long as one is needed."""
        looks = []
        is_too_dear = not self._is_lazy and self._left() < 0
        for thing in things:
            search = thing.shelf.search(self._filters(thing))
            if not search.looked or is_too_dear or not (self._is_lazy or self._chosen(thing)):
                sort, limit = ("relevance", _FIRST_PAGE) if self._is_lazy else ("price_asc", _MOST)
                pages = list(thing.shelf.looks(search, sort, _MOST))
                looks += [thing.shelf.call(search, page, limit) for page in pages[:1]]
        return looks

    @property
    def _is_lazy(self) -> bool:
        return not (self._skill.compares and self._skill.filters)

    def _filters(self, thing: _Thing) -> Filters:
        if not self._skill.filters:
            return {}
        stock = {"in_stock": True} if self._skill.minds_stock else {}
        return {**stock, **filters_of(thing.requirements)}

    def _left(self) -> int:
        """Return what is left of the budget, in cents; less than nothing where what was chosen is too dear."""
        chosen = (self._chosen(thing) for thing in self._things.values())
        budget = self._budget
        return 0 if budget is None else budget - sum(_cents(card) for card in chosen if card is not None)

    def _fitting(self, thing: _Thing) -> list[Card]:
        """Return the products that meet what is required, as far as it is known, the cheapest first."""
        shelf = thing.shelf
        fitting = [
            card
            for product_id, card in shelf.cards.items()
            if "price" in card
            and (card["in_stock"] or not self._skill.minds_stock)
            and not contradicts(card, thing.requirements, is_whole=product_id in shelf.whole)
        ]
        return sorted(fitting, key=lambda card: float(card["price"])) if self._skill.filters else fitting

    def _chosen(self, thing: _Thing) -> Card | None:
        """Return the product to recommend, None before one was found; who is lazy takes what comes first."""
        found = self._fitting(thing) if self._skill.compares else []
        return next(iter([*found, *(thing.shelf.cards.values() if self._is_lazy else ())]), None)

    def _checks(self) -> list[Sent]:
        """Return looks at what was chosen, where it may have sold out or its card does not show all that counts."""
        checks: list[Sent] = []
        left = self._left()
        for thing in () if self._is_lazy else self._things.values():
            fitting = self._fitting(thing)
            for best in fitting[:1]:
                product_id = best["product_id"]
                # A thing sells out only once something was shown that can take its place within the budget.
                affordable = [card["product_id"] for card in fitting if _cents(card) - _cents(best) <= max(0, left)]
                is_stale = bool(thing.shelf.may_have_sold_out(affordable, 1))
                is_unproved = product_id not in thing.shelf.whole and unproved(best, thing.requirements)
                if is_unproved or (is_stale and self._is_long and self._skill.minds_stock):
                    checks.append(thing.shelf.look_at(product_id))
        return checks

    def _answer(self, *, is_last: bool) -> dict[str, Any]:
        chosen = [card["product_id"] for thing in self._things.values() if (card := self._chosen(thing)) is not None]
        is_proposal = self._skill.guesses and not is_last and self._proposals < _PROPOSALS
        self._proposals += 1
        return {"done": not is_proposal, "recommended_product_ids": chosen}


def _cents(card: Card) -> int:
    """Return a price in integer cents; one that nobody knows costs nothing."""
    return round(float(card.get("price", 0)) * _CENTS)
