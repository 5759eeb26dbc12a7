"""The expert for CART: asks, searches until each item can be one product only, reports stock-outs, adds, submits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import Any

from ecom_rlve.evaluation.agent import call
from ecom_rlve.evaluation.agents.cart.wanted import Wanted
from ecom_rlve.evaluation.expert.cards import Card, is_titled, words_of
from ecom_rlve.evaluation.expert.interview import ANYTHING, FACTS_PER_TURN, Topic
from ecom_rlve.evaluation.expert.scripted import Move, ScriptedExpert, Sent
from ecom_rlve.evaluation.expert.shelf import MOST, PAGE, Shelf
from ecom_rlve.evaluation.expert.skill import Skill
from ecom_rlve.models import Observation, SaidAct, ToolResult

_FIRST_PAGE = 5
_OF_EACH = ("quantity", "variant")
"""What is asked of each item beside its product."""
_SURE = ("brand", "quantity")
"""What every customer can tell of an item, unless it was said."""
_FEW = 30
"""Products that pass a search up to which all of them are looked at; of more, more is asked first."""
_DESCRIPTION = 3
"""Facts of a product that mostly single it out."""
_CALLS_OF_EACH = 2
"""Calls that bring an item into the cart: the list of its variants, and the cart's own."""
_DONE: dict[str, Any] = {"done": True}


class CartExpert(ScriptedExpert):
    """Plays one CART episode."""

    def __init__(self, skill: Skill | None = None) -> None:
        super().__init__(skill)
        self._items: dict[str, Wanted] = {}
        """By the noun."""
        self._history: list[Card] | None = None
        self._visited: set[str] = set()
        self._described: set[str] = set()
        """Nouns of items of which was asked what they should be like."""
        self._asked_of_all: set[str] = set()
        """What was asked for without naming an item."""
        self._budget = 1
        """Calls of a turn."""
        self._is_first = True
        self._is_asking = self._skill.asks and not self._skill.guesses

    def _begin(self, opening: Observation) -> None:
        super()._begin(opening)
        self._budget = opening.tool_budget or 1

    def _decide(self, room: int, turns_left: int) -> Move:
        self._note_items()
        for act in self._heard.latest:
            self._react(act)
        items = [item for item in self._items.values() if not item.is_dropped]
        for item in items:
            self._choose(item, is_late=turns_left <= self._turns_to_finish(item))
        gone = [item for item in items if item.is_sold_out() and not item.is_reported]
        if gone and self._skill.minds_stock and (turns_left > 1 or gone[0].is_certain(gone[0].pool())):
            # In the turn in which a true one is told they decide: it is none of the agent's.
            gone[0].is_reported = True
            return Move(message=f"{gone[0].named()} is sold out. What should I take instead?")
        if turns_left <= 1:
            puts = [put for item in items for put in item.put(self._skill)]
            return Move([*puts, *self._clear()][:room], answer=_DONE)
        if move := self._work(items, room, turns_left):
            return move
        for item in items:
            self._choose(item, is_late=True)
        return self._work(items, room, turns_left) or Move(answer=_DONE)

    def _work(self, items: list[Wanted], room: int, turns_left: int) -> Move | None:
        """Return what is to be asked, read and put into the cart; None where nothing is."""
        topics = self._topics(items, turns_left)[:FACTS_PER_TURN]
        ready = [item.list_variants(item.chosen) for item in items if item.chosen and item.needs_variants()]
        ready += [put for item in items if not self._lacks(item) for put in item.put(self._skill)]
        ready += self._clear()
        # A tool at a time, an open turn that holds a call already is the agent's: further looks in it cost nothing.
        is_worth_it = bool(ready) or self._is_first or not topics or (self._is_piecemeal and not self._is_fresh)
        looks = self._looks(items, is_worth_it=is_worth_it)
        if not (ready or looks or topics):
            return None
        self._asked_of_all.update(topic.name for topic in topics if not topic.singular)
        self._described.update(topic.singular for topic in topics if topic.singular and not topic.name)
        is_sure = (self._is_piecemeal or not self._is_first) and any(topic.name in _SURE for topic in topics)
        self._is_first = False
        return Move([*ready, *looks][:room], topics, is_sure=is_sure)

    def _clear(self) -> list[Sent]:
        """Return the calls that take out of the cart what the customer has decided to leave out."""
        return [remove for item in self._items.values() if item.is_dropped for remove in item.clear()]

    def _asks_first(self, topics: Sequence[Topic]) -> bool:  # noqa: ARG002 - of several items some are always clear enough to go on with
        return False

    def _note_items(self) -> None:
        for noun, heard in self._heard.items.items():
            if noun not in self._items:
                shelf = Shelf(heard.singular, heard.plural)
                self._items[noun] = Wanted(heard, shelf, self._visited, self._is_long, self._skill.filters)
        for item in self._items.values():
            # The categories of the first searches are known by now; what was seen later is newer.
            unseen = [card for card in self._history or [] if card["product_id"] not in item.shelf.cards]
            item.shelf.see(unseen)

    def _react(self, act: SaidAct) -> None:
        """Do as the customer decided of what is sold out."""
        named = [self._items[said.singular] for said in act.items]
        if act.kind == "stockout_fallback":
            for item in named:
                titled = [card for card in item.shelf.cards.values() if is_titled(card, act.title)]
                if titled:
                    likeliest = max(titled, key=lambda card: len(card["title"]))
                    item.chosen, item.is_fallback = likeliest["product_id"], True
                elif not any(said.facts for said in act.items):
                    item.is_dropped = True
        elif act.kind == "revise":
            # What was said of what they wanted before says nothing of what they want now.
            for item in named:
                item.is_reported = item.is_given_up = False
        elif act.kind == "still_there":
            # What is sold out is not what they want.
            for item in named:
                item.refused.add(item.chosen or "")
                item.chosen, item.is_reported = None, False

    def _choose(self, item: Wanted, *, is_late: bool) -> None:
        if item.is_fallback or item.line is not None:
            return
        item.chosen = None
        if not (self._skill.compares and self._skill.filters):
            first = (product_id for product_id in item.search.seen if product_id not in item.refused)
            item.chosen = item.closest() if self._skill.compares else next(first, None)
            return
        pool = item.pool()
        if item.is_certain(pool) or (pool and (is_late or not self._may_learn_more(item))):
            item.chosen = pool[0]
        elif is_late:
            item.chosen = item.closest()

    def _turns_to_finish(self, item: Wanted) -> int:
        """Return how many turns it takes to bring an item into the cart and to answer: both fit into the last one."""
        if not self._is_piecemeal:
            return 1 + item.has_to_list()
        undone = [other for other in self._items.values() if other.line is None and not other.is_dropped]
        return max(1, -(-_CALLS_OF_EACH * len(undone) // self._budget))

    def _may_learn_more(self, item: Wanted) -> bool:
        """Tell whether another question or another look could tell which product it is."""
        can_ask = bool(self._open_names(item)) or self._has_more_to_tell(item)
        return bool(self._pages(item)) or (can_ask and not item.is_singled_out())

    def _open_names(self, item: Wanted) -> list[str]:
        """Return what could still be asked about a product."""
        if not self._is_asking:
            return []
        told = {fact.attribute for fact in item.facts}
        return [
            name
            for name in ("brand", *item.shelf.attributes(), "price")
            if name not in told and not {Topic(name), item.topic(name)} & self._interview.closed
        ]

    def _topics(self, items: list[Wanted], turns_left: int) -> list[Topic]:
        """Return what to ask for: what everybody knows first, then what tells most of the products apart."""
        if not self._is_asking or turns_left <= 1 or ANYTHING in self._interview.closed:
            return []
        settled = [item for item in items if not item.is_fallback]
        vague = [item for item in settled if item.chosen is None]
        sure = [item.topic("brand") for item in vague if "brand" in self._open_names(item)]
        sure += [item.topic(name) for name in _OF_EACH for item in settled if name in self._lacks(item)]
        if len(sure) >= FACTS_PER_TURN:
            return sure
        if not any(item.shelf.cards for item in items):
            # What products of the kinds have is not known yet.
            return sure or self._descriptions(vague)
        early = [item for item in vague if turns_left > self._turns_to_finish(item)]
        unclear = [item for item in early if not item.is_singled_out()]
        telling = self._descriptions(unclear) or self._telling(unclear)
        # A question that names nothing is answered only where no other one is.
        return sure + [topic for topic in telling if topic.name] or telling[:1]

    def _lacks(self, item: Wanted) -> list[str]:
        """Return what has still to be found out before an item can be put into the cart."""
        if not self._is_asking or item.is_fallback:
            return ["variants"] if item.needs_variants() and not self._skill.guesses else []
        told = item.heard.facts
        open_names = [name for name in _OF_EACH if name not in told and item.topic(name) not in self._interview.closed]
        return [*open_names, *(["variants"] if item.needs_variants() else [])]

    def _telling(self, vague: list[Wanted]) -> list[Topic]:
        """Return what would tell products apart that some items may be, what more items lack first."""
        lacking = Counter(name for item in vague for name in self._open_names(item) if name != "brand")
        unsaid = sum(max(1, _DESCRIPTION - len(item.facts)) for item in vague)
        if FACTS_PER_TURN * unsaid < len(lacking) or not lacking:
            return [item.topic("") for item in vague if self._has_more_to_tell(item)]
        topics = [Topic(name) for name, _ in lacking.most_common() if name not in self._asked_of_all]
        topics += [
            item.topic(name)
            for name, _ in lacking.most_common()
            for item in vague
            if name in self._asked_of_all and name in self._open_names(item)
        ]
        return topics

    def _descriptions(self, vague: list[Wanted]) -> list[Topic]:
        """Return how to ask what an item should be like of which this was never asked: it is then described at once."""
        if self._is_piecemeal and self._is_fresh:
            # Such a question is the agent's turn, so it goes with calls.
            return []
        return [item.topic("") for item in vague if item.heard.singular not in self._described][:1]

    def _has_more_to_tell(self, item: Wanted) -> bool:
        """Tell whether the customer may know of an item what its cards do not show."""
        return self._is_asking and len(item.pool()) > 1 and item.topic("") not in self._interview.closed

    def _looks(self, items: list[Wanted], *, is_worth_it: bool) -> list[Sent]:
        """Return looks at what may be the product of each item, and at the visit history.

        A turn that would hold nothing else is worth it for items of which as much is known as describes a product.
        """
        vague = [item for item in items if item.chosen is None and not item.is_fallback]
        pages = [self._pages(item) for item in vague]
        is_worth_it |= any(each and len(item.facts) >= _DESCRIPTION for item, each in zip(vague, pages, strict=True))
        if not is_worth_it:
            return []
        rounds = [[look for look in each if look is not None] for each in zip_longest(*pages)]
        first, *others = rounds or [[]]
        history = [self._read_history()] if first and self._history is None and self._skill.compares else []
        variants = [item.list_variants(likely) for item in vague if (likely := item.likely_to_list())]
        return [*first, *history, *variants, *chain.from_iterable(others)]

    def _pages(self, item: Wanted) -> list[Sent]:
        """Return the further looks at what an item may be that are worth their calls."""
        if not (self._skill.compares and self._skill.filters):
            return self._first_page(item)
        search, pool = item.search, item.pool()
        has_number = any(isinstance(fact.value, int | float) for fact in item.facts)
        if (search.total or 0) > _FEW and self._open_names(item) and not has_number:
            return []
        looks = item.shelf.looks(
            search,
            most=PAGE if search.total is None else MOST,
            words=words_of(item.facts),
            is_doubtful=len(pool) == 1 and not item.is_certain(pool),
        )
        return [item.shelf.call(search, look) for look in looks]

    def _first_page(self, item: Wanted) -> list[Sent]:
        """Return the one look of an agent that takes what it sees first."""
        if item.search.looked:
            return []
        words = words_of(item.facts)
        looks = list(item.shelf.looks(item.search, most=PAGE, words=words))[:1]
        return [item.shelf.call(item.search, look, _FIRST_PAGE) for look in looks]

    def _read_history(self) -> Sent:
        def take(answer: ToolResult) -> None:
            self._history = (answer.result or {}).get("results", [])
            self._visited.update(card["product_id"] for card in self._history)

        return call("user_get_visit_history"), take
