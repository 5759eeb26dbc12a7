"""What the experts that recommend products have in common: collecting what fits, looking again, answering."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Collection, Iterator
from itertools import zip_longest
from typing import Any

from ecom_rlve.evaluation.expert.cards import UNFILTERED, Card, Filters, contradicts, filters_of, unproved, words_named
from ecom_rlve.evaluation.expert.heard import HeardItem
from ecom_rlve.evaluation.expert.interview import FACTS_PER_TURN, Topic
from ecom_rlve.evaluation.expert.scripted import Move, ScriptedExpert, Sent
from ecom_rlve.evaluation.expert.shelf import Search, Shelf
from ecom_rlve.evaluation.expert.skill import Skill
from ecom_rlve.models import Observation, SaidFact

_COUNT, _WISHES = re.compile(r"up to (\d+) "), re.compile(r"(\d+) wishes")


class RecommendingExpert(ScriptedExpert):
    """Plays one episode whose answer is a list of products of one kind."""

    def __init__(self, skill: Skill | None = None) -> None:
        super().__init__(skill)
        self._picks, self._wished, self._budget = 3, 2, 1
        self._kind: Shelf | None = None
        self._proposed = False
        self._is_asking = self._skill.asks and not self._skill.guesses
        """Questions are asked while there is time for their answers."""

    @abstractmethod
    def _topics(self) -> list[Topic]:
        """Return what to ask for, the most important first."""

    def _is_sure(self, topics: Collection[Topic]) -> bool:  # noqa: ARG002 - an expert who knows what every customer can tell says so
        """Tell whether the customer has something to tell of one of the topics."""
        return False

    @abstractmethod
    def _searches(self) -> list[Search]:
        """Return the searches that together show what may be recommended; none while that is not known."""

    @abstractmethod
    def _ranked(self) -> list[str]:
        """Return the ids to recommend, best first."""

    @property
    def _item(self) -> HeardItem:
        """The one thing that the customer speaks of."""
        return next(iter(self._heard.items.values()))

    @property
    def _shelf(self) -> Shelf:
        if self._kind is None:
            self._kind = Shelf(self._item.singular, self._item.plural)
        return self._kind

    def _begin(self, opening: Observation) -> None:
        super()._begin(opening)
        text = opening.instructions or ""
        self._budget = opening.tool_budget or 1
        if picks := _COUNT.search(text):
            self._picks = int(picks[1])
        if wished := _WISHES.search(text):
            self._wished = int(wished[1])

    def _decide(self, room: int, turns_left: int) -> Move:
        self._shelf.batch += 1
        if turns_left <= 1:
            return Move(answer=self._answer())
        self._is_asking &= turns_left > 2
        topics = self._topics()[:FACTS_PER_TURN] if self._is_asking else []
        calls = [*self._first_looks(), *self._further_looks()]
        again = self._looks_again()
        if turns_left == 2 and again:
            # The last look before the answer: the best may have sold out since it was shown.
            return Move(again[:room])
        if calls or topics:
            return Move(calls[:room], topics, is_sure=bool(topics) and self._is_sure(topics))
        if self._skill.guesses and not self._proposed:
            self._proposed = True
            return Move(answer={**self._answer(), "done": False})
        return Move(again[:room]) if again else Move(answer=self._answer())

    def _first_looks(self) -> Iterator[Sent]:
        """Yield looks that come before all others."""
        yield from ()

    def _further_looks(self) -> Iterator[Sent]:
        """Yield looks at what may be recommended, of each search in turn."""
        looks = [
            [(search, look) for look in self._shelf.looks(search, self._first_sort())] for search in self._searches()
        ]
        if self._is_lazy:
            looks = [found[:1] for found in looks]
        for round_of_looks in zip_longest(*looks):
            yield from (self._shelf.call(*look) for look in round_of_looks if look is not None)

    def _answer(self) -> dict[str, Any]:
        return {"done": True, "recommended_product_ids": self._ranked()[: self._picks]}

    def _first_sort(self) -> str:
        return "relevance"

    def _stock_filter(self) -> Filters:
        return {"in_stock": True} if self._skill.minds_stock else {}

    @property
    def _is_lazy(self) -> bool:
        return not (self._skill.filters and self._skill.compares)

    def _lazy_search(self) -> list[Search]:
        """Return the search of which rungs see one page that do not look through what there is."""
        filters = self._stock_filter() if self._skill.filters else {}
        search = self._shelf.search(filters)
        return [] if search.looked else [search]

    def _fitting(self, facts: Collection[SaidFact], *, believes: bool = False) -> list[Card]:
        """Return the cards of what meets the facts and can be bought, as far as this agent minds.

        Who ``believes`` counts what may meet a fact that neither its card shows nor a search could ask for. What a card
        has no room to show is believed of what a search with that filter has found; what was seen before, and not by
        searches that have shown everything, has sold out since.
        """
        searches = self._searches()
        found = {product_id for search in searches for product_id in search.seen}
        is_all = bool(searches) and all(search.is_complete for search in searches)
        fitting = []
        for product_id, card in self._shelf.cards.items():
            is_whole = product_id in self._shelf.whole
            is_gone = not card["in_stock"] or (is_all and product_id not in found)
            if contradicts(card, facts, is_whole=is_whole) or (is_gone and self._skill.minds_stock):
                continue
            open_facts = [fact for fact in unproved(card, facts) if not (believes and fact.op in UNFILTERED)]
            if is_whole or all(self._is_backed(product_id, fact) for fact in open_facts):
                fitting.append(card)
        return fitting

    def _is_backed(self, product_id: str, fact: SaidFact) -> bool:
        """Tell whether a search has found a product by a filter that says as much as a fact."""
        if fact.op in UNFILTERED:
            return False
        stated = filters_of([fact]).items()
        values = words_named(fact) if isinstance(fact.value, list) else []
        return any(
            product_id in search.seen
            and (search.filters.get(fact.attribute) in values if values else stated <= search.filters.items())
            for search in self._shelf.searches.values()
        )

    def _looks_again(self) -> list[Sent]:
        """Return looks at the best products, where they may have sold out since they were shown.

        What does not fit into one turn's looks at single products is searched for again.
        """
        if not (self._is_long and self._skill.minds_stock and self._skill.compares):
            return []
        doubtful = self._shelf.may_have_sold_out(self._ranked(), self._picks)
        if len(doubtful) <= self._budget:
            return [self._shelf.look_at(product_id) for product_id in doubtful]
        looks = [
            (search, look) for search in self._searches() for look in self._shelf.again(search, self._first_sort())
        ]
        return [self._shelf.call(*look) for look in looks] + [self._shelf.look_at(each) for each in doubtful]
