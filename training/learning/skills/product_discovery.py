"""Skills for PD: search with these filters in this order, ask, recommend what was shown in this order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ecom_rlve.training.learning.matching import money_in, singular
from ecom_rlve.training.learning.notebook import how_many, question, submit, use
from ecom_rlve.training.learning.policy import Candidate
from ecom_rlve.training.learning.skills.cards import Card, Stated, filters_of, fit_of, words_of
from ecom_rlve.training.learning.skills.shelf import PRIORITIES, ShelfNotes

_PAGE = 10
_MOST = 10
"""Products recommended at most; the store cuts a list to what was asked for, so more would only add."""
_SORTS = ("relevance", "price_asc", "rating_desc", "ship_days_asc")
_OWN_SORT = {"price": "price_asc", "rating": "rating_desc", "delivery time": "ship_days_asc", "brand": "price_asc"}
_BEST = {"price": 0.0, "rating": 5.0, "ship_days": 1.0}
_TOP, _REST = 0.7, 0.3
_CENTS = 100
_QUESTIONS = {
    "priority": "What matters most to you?",
    "price": "What price do you have in mind?",
    "rating": "Which rating should it have?",
    "ship_days": "Which delivery time do you want?",
    "brand": "Which brand do you want?",
    "anything": "Is there anything else that I should know?",
}


class DiscoveryNotes(ShelfNotes):
    """Notes of one PD episode."""

    def facts(self) -> dict[str, list[Stated]]:
        """Return what was said about each thing; an amount of which no frame says what it is bounds the price."""
        found = super().facts()
        amounts = money_in(self.text)
        for facts in list(found.values())[:1] if amounts else []:
            if all(fact.attribute != "price" for fact in facts):
                facts.append(Stated("price", "at_most", float(amounts[-1])))
        return found

    def offers(self) -> list[Candidate]:
        things = self.things()[:1]
        stated = {fact.attribute for thing in things for fact in self.facts()[thing]}
        offers = [
            Candidate("search message", use("catalog_search", query=self.first[:900], limit=_PAGE)),
            *self.sentence_searches(),
            *(
                question(self, f"ask {topic}", topic, text, f"said:{topic in stated}")
                for topic, text in _QUESTIONS.items()
            ),
        ]
        for thing in things:
            offers += self._searches(thing)
            offers += self._answers(thing)
        return offers

    def _searches(self, thing: str) -> Iterator[Candidate]:
        facts = self.facts()[thing]
        priority = self._priority(thing)
        query = {"query": words_of(self.called(thing), facts), "category": thing, "limit": _PAGE, "in_stock": True}
        kinds: list[tuple[str, dict[str, Any]]] = [
            ("search kind", {}),
            ("search all", filters_of(facts)),
            ("search numbers", filters_of(facts, _BEST)),
            *(("search brand", {**filters_of(facts), "brand": brand}) for brand in self._either_brand(thing)),
        ]
        for skill, filters in kinds:
            own = _OWN_SORT.get(priority, "")
            for sort in _SORTS if skill == "search all" else dict.fromkeys(("relevance", own or "price_asc")):
                for offset in (0, _PAGE) if skill == "search all" else (0,):
                    args = {**query, **filters, "sort": sort, **({"offset": offset} if offset else {})}
                    features = (
                        f"sort:{sort},{priority}",
                        f"own:{own == sort}",
                        f"page:{offset}",
                        f"filters:{how_many(len(filters))}",
                    )
                    yield Candidate(skill, use("catalog_search", **args), features)

    def _answers(self, thing: str) -> Iterator[Candidate]:
        facts, priority = self.facts()[thing], self._priority(thing)
        cards = self.of(thing)
        fitting = [card for card in cards if card.get("in_stock", True) and fit_of(card, facts).broken == 0]
        proved = [card for card in fitting if fit_of(card, facts).unknown == 0]
        for name, pool in (("shown", cards), ("fitting", fitting), ("proved", proved)):
            if not pool:
                continue
            orders: dict[str, list[Card]] = {
                "as shown": pool,
                "price": sorted(pool, key=lambda card: float(card.get("price", 1e9))),
                "rating": sorted(pool, key=lambda card: -float(card.get("rating", 0))),
                "ship_days": sorted(pool, key=lambda card: float(card.get("ship_days", 99))),
                "worth": sorted(pool, key=lambda card: -worth(card, facts, priority)),
            }
            for order, ranked in orders.items():
                ids = [card["product_id"] for card in ranked[:_MOST]]
                own = (
                    f"by:{order},{PRIORITIES.get(priority, '')}",
                    f"order:{order}",
                    f"sure:{how_many(len(proved), 4)}",
                    f"facts:{how_many(len(facts), 4)}",
                )
                yield Candidate("submit", submit(recommended_product_ids=ids), (f"pool:{name}", *own))

    def _either_brand(self, thing: str) -> tuple[str, ...]:
        """Return the brands of which any will do, where several were said: a filter takes one at a time."""
        said = (fact.value for fact in self.facts()[thing] if fact.attribute == "brand" and fact.op == "any_of")
        return next(said, ())

    def _priority(self, thing: str) -> str:
        """Return what matters most, as it was said; empty if it was not."""
        return next((str(fact.value) for fact in self.facts()[thing] if fact.attribute == "priority"), "")

    def state(self) -> tuple[str, ...]:
        things = self.things()[:1]
        facts = [fact for thing in things for fact in self.facts()[thing]]
        found = [card for thing in things for card in self.of(thing) if fit_of(card, facts).broken == 0]
        return (
            *super().state(),
            f"kind:{singular(things[0]) != '' if things else False}",
            f"facts:{how_many(len(facts), 4)}",
            f"priority:{any(fact.attribute == 'priority' for fact in facts)}",
            f"own:{self._own(things)}",
            f"found:{how_many(len(found), 6)}",
            f"cards:{how_many(len(self.cards) // _PAGE)}",
        )

    def _own(self, things: list[str]) -> str:
        """Return what matters most, and whether a limit of it was said."""
        priority = next((self._priority(thing) for thing in things), "")
        said = {fact.attribute for thing in things for fact in self.facts()[thing]}
        return f"{priority},{PRIORITIES.get(priority) in said}"


def worth(card: Card, facts: list[Stated], priority: str) -> float:
    """Return what a product is worth by the rule that the brief states."""
    attribute = PRIORITIES.get(priority)
    limits = {fact.attribute: _limit(fact) for fact in facts if fact.attribute in _BEST}
    names = [fact.attribute for fact in facts if fact.attribute in PRIORITIES.values()]
    others = len(names) - (attribute in names)
    found = 0.0
    for name, limit in limits.items():
        if limit is None or limit == _BEST[name] or card.get(name) is None:
            continue
        weight = _TOP if name == attribute else _REST / max(1, others)
        found += weight * abs(float(card[name]) - limit) / abs(_BEST[name] - limit)
    return found


def _limit(fact: Stated) -> float | None:
    value: Any = fact.value
    if isinstance(value, tuple):
        value = value[0] if fact.attribute == "rating" else value[1]
    if isinstance(value, str):
        return None
    return float(value) / (_CENTS if fact.attribute == "price" else 1)
