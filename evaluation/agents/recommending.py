"""What the experts that recommend products have in common: asking, collecting candidates, looking again, answering."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, call, one_at_a_time
from ecom_rlve.evaluation.agents.candidates import PAGE, Candidates, Filters, Page, key_of
from ecom_rlve.evaluation.agents.skill import Skill
from ecom_rlve.evaluation.reading import language
from ecom_rlve.evaluation.reading.item_notes import Card
from ecom_rlve.evaluation.reading.wishes import FILTERS, Wishes, read_wishes, unknown_values, values_of
from ecom_rlve.models import Observation, ToolResult

Sent = tuple[dict[str, Any], Callable[[ToolResult], None]]
"""A call and what to do with its result."""

_FACTS_PER_QUESTION = 3
_FEW = 20
"""Products that pass a search's filters up to which all of them are looked at rather than filtered further."""
_SOLD_TOGETHER = 3
"""Products that sell out at once."""
_SHORT_TALK = 4
"""Turn budget of the easiest conversations, in which nothing sells out."""
_LABELS = {"ship_days": "delivery time", "color": "colour", "flavor": "flavour"}
_SHORTER = {"connector_type": "connector", "item_form": "form", "finish_type": "finish"}
_REFUSED, _SUGGESTED = (
    re.compile(r"no product has the (\w+) ['\"](.+?)['\"](?:;|$)"),
    re.compile(r"did you mean (.+)\?$"),
)
_COUNT, _WISHES = re.compile(r"up to (\d+) "), re.compile(r"(\d+) wishes")


class RecommendingExpert(ABC):
    """Plays one episode whose answer is a list of products."""

    def __init__(self, skill: Skill | None = None) -> None:
        self._skill = skill or Skill()
        self._text = ""
        self._cards: dict[str, Card] = {}
        """Every product shown, as last seen, in order of first sight."""
        self._batch = 0
        self._first_sight: dict[str, int] = {}
        self._last_sight: dict[str, int] = {}
        """Numbers of the batches of results in which a product was seen first and last, by id."""
        self._category: str | None = None
        self._searches: dict[str, Candidates] = {}
        self._known: dict[str, list[str]] = {}
        """Values that the shop has suggested for names it did not know."""
        self._failed: set[str] = set()
        self._asked: set[str] = set()
        self._facets: dict[str, Any] | None = None
        """Attributes and ranges of the category, where searches tell them."""
        self._sent: list[Sent] = []
        self._picks, self._wished = 3, 2
        self._budget = 1
        self._is_long = False
        self._proposed = False

    @abstractmethod
    def _first_search(self, room: int) -> list[Sent]:
        """Return the searches that find out what kind of product it is about."""

    @abstractmethod
    def _filters(self, wishes: Wishes) -> Filters:
        """Return the filters that leave no product out that may be recommended."""

    @abstractmethod
    def _open_questions(self, wishes: Wishes) -> list[str]:
        """Return what to ask for, the most important first: names of attributes, or other topics."""

    @abstractmethod
    def _ranked(self, wishes: Wishes) -> list[str]:
        """Return the ids to recommend, best first."""

    def act(self, result: StepResult) -> Action:
        """Return the next action."""
        observation = result.observation
        if observation.instructions:
            self._read_brief(observation)
        seen: dict[str, Card] = {}
        for answer, (_, take) in zip(observation.tool_results, self._sent, strict=False):
            seen |= {card["product_id"]: card for card in (answer.result or {}).get("results", ())}
            take(answer)
        self._cards |= seen
        self._batch += 1
        for product_id in seen:
            self._first_sight.setdefault(product_id, self._batch)
            self._last_sight[product_id] = self._batch
        if observation.user_message:
            self._text += f"\n{observation.user_message}"
        question, sent, answer_now = self._decide(observation.tool_calls_left, observation.turns_left)
        action: Action = {"tool_calls": [made for made, _ in sent]}
        if answer_now is not None:
            action["answer"] = answer_now
        elif question:
            action["assistant_message"] = " ".join(_question(name) for name in question)
        action = one_at_a_time(action, result.metadata.style)
        self._sent = sent[: len(action["tool_calls"])]
        if "assistant_message" in action:
            self._asked.update(question)
        return action

    def _read_brief(self, observation: Observation) -> None:
        text = observation.instructions or ""
        if picks := _COUNT.search(text):
            self._picks = int(picks[1])
        if wished := _WISHES.search(text):
            self._wished = int(wished[1])
        self._budget = observation.tool_budget or 1
        self._is_long = (observation.max_turns or 0) > _SHORT_TALK

    def _decide(self, room: int, turns_left: int) -> tuple[list[str], list[Sent], dict[str, Any] | None]:
        wishes = self._wishes()
        if turns_left <= 1:
            return [], [], self._answer(wishes)
        questions = self._questions(wishes)
        if self._category is None:
            return questions, self._first_search(room)[:room], None
        calls = self._collect(wishes)
        again = self._look_again(wishes)
        if calls or questions:
            # The last look before the answer goes first: the best may have sold out since it was shown.
            calls = [*again, *calls] if turns_left == 2 else [*calls, *again]
            return questions, calls[:room], None
        if self._skill.guesses and not self._proposed:
            self._proposed = True
            return [], [], {**self._answer(wishes), "done": False}
        if again:
            return [], again[:room], None
        return [], [], self._answer(wishes)

    def _answer(self, wishes: Wishes) -> dict[str, Any]:
        return {"done": True, "recommended_product_ids": self._ranked(wishes)[: self._picks]}

    def _vocabulary(self) -> tuple[dict[str, list[str]], set[str]]:
        """Return the words that products of the category are known to have, and the names of their numbers."""
        values, numbers = values_of(card for card in self._cards.values() if card["category"] == self._category)
        for name, known in self._known.items():
            values[name] = sorted({*values.get(name, ()), *known})
        return values, numbers

    def _wishes(self) -> Wishes:
        """Return what the customer has said, read with the words that cards of the category use."""
        if self._category is not None:
            self._guess_spellings()
        return read_wishes(self._text, *self._vocabulary())

    def _questions(self, wishes: Wishes) -> list[str]:
        if not self._skill.asks or self._skill.guesses:
            return []
        return [name for name in self._open_questions(wishes) if name not in self._asked][:_FACTS_PER_QUESTION]

    def _missing(self, wishes: Wishes) -> bool:
        """Tell whether the customer has wishes that they have not told."""
        return len(wishes.attributes) < self._wished

    def _attributes(self) -> list[str]:
        """Return the attributes that cards of the category show, the most frequent first."""
        counts: dict[str, int] = {}
        for card in self._cards.values():
            if card["category"] == self._category:
                for name in card:
                    counts[name] = counts.get(name, 0) + 1
        known = {"product_id", "title", "category", "price", "price_from", "in_stock", "brand", "rating", "ship_days"}
        return sorted(counts.keys() - known, key=lambda name: (-counts[name], name))

    def _collect(self, wishes: Wishes) -> list[Sent]:
        """Return the searches that still have to show what may be recommended."""
        if not self._skill.filters or not self._skill.compares:
            return self._collect_lazily()
        return [
            self._search(candidates, page)
            for filters in self._alternatives(wishes, self._filters(wishes), self._budget)
            for candidates in (self._searches.setdefault(key_of(filters), Candidates(filters)),)
            for page in candidates.pages(self._first_sort(wishes))
        ]

    def _first_sort(self, wishes: Wishes) -> str:
        return {"rating": "rating_desc", "ship_days": "ship_days_asc"}.get(wishes.priority or "", "price_asc")

    def _alternatives(self, wishes: Wishes, filters: Filters, room: int) -> Iterable[Filters]:
        """Yield the filters, split by "A or B" while there is room for as many searches, or too much passes them."""
        open_names = [name for name, values in wishes.words.items() if len(values) > 1 and name not in filters]
        searched = self._searches.get(key_of(filters))
        total = searched.total if searched else None
        hidden = [name for name in open_names if self._is_hidden(name)]
        is_broad = hidden or (total is not None and total > _FEW)
        if not open_names or not (is_broad or (total is None and room > 1 and not self._missing(wishes))):
            yield filters
            return
        name = (hidden or open_names)[0]
        for value in wishes.words[name]:
            yield from self._alternatives(wishes, {**filters, name: value}, room // len(wishes.words[name]))

    def _is_hidden(self, name: str) -> bool:
        """Tell whether cards of the category have no room to show an attribute."""
        cards = [card for card in self._cards.values() if card["category"] == self._category]
        return 2 * sum(name in card for card in cards) < len(cards)

    def _search(self, candidates: Candidates, page: Page) -> Sent:
        def take(answer: ToolResult) -> None:
            candidates.take(page, answer.result)
            self._correct_spelling(answer.error or "")
            self._facets = (answer.result or {}).get("facets", self._facets)

        query = " ".join(language.words(self._text)[:30]) or "product"
        sort, offset = page
        args = {"query": query, "limit": PAGE, "offset": offset or None, "sort": sort, **candidates.filters}
        return call("catalog_search", **args), take

    def _collect_lazily(self) -> list[Sent]:
        """Return one search without filters, or without a second look."""
        if any(candidates.searched for candidates in self._searches.values()):
            return []
        filters = {"category": self._category} if self._skill.filters else {}
        return [self._search(self._searches.setdefault("", Candidates(filters)), ("relevance", 0))]

    def _guess_spellings(self) -> None:
        """Take what was said and no card has shown for the shop's own word, until the shop says how it spells it."""
        known, _ = self._vocabulary()
        for name, parts in unknown_values(self._text, known).items():
            self._known.setdefault(name, []).extend(part for part in dict.fromkeys(parts) if part not in self._failed)

    def _correct_spelling(self, error: str) -> None:
        """Learn from the shop's refusal of a filter which of its words was meant."""
        refused, suggested = _REFUSED.search(error), _SUGGESTED.search(error)
        if refused is None:
            return
        name, said = refused[1], refused[2]
        self._failed.add(said)
        self._known[name] = [value for value in self._known.get(name, ()) if value != said]
        best = suggested[1].split(", ") if suggested else []
        self._known[name] += [value for value in best if language.is_said(value, said)][:1]

    def _look_again(self, wishes: Wishes) -> list[Sent]:
        """Return a look at the best candidate, where it may have sold out since it was shown."""
        ranked = self._ranked(wishes)
        if not (self._is_long and self._skill.minds_stock) or not ranked or self._is_safe(ranked):
            return []

        def take(answer: ToolResult) -> None:
            product = (answer.result or {}).get("product")
            if product is not None:
                self._cards[product["product_id"]]["in_stock"] = product["in_stock"]
                self._last_sight[product["product_id"]] = self._batch + 1

        return [(call("catalog_get_product", product_id=ranked[0]), take)]

    def _is_safe(self, ranked: list[str]) -> bool:
        """Tell whether the best was seen after the moment at which it could sell out.

        That is when it, another good one and three that are no match for these had been shown.
        """
        best, *others = ranked
        picks = ranked[: self._picks]
        rest = sorted(
            self._first_sight[card["product_id"]]
            for card in self._cards.values()
            if card["category"] == self._category and card["product_id"] not in picks
        )
        if not others or len(rest) < _SOLD_TOGETHER:
            return True
        moments = (self._first_sight[best], min(self._first_sight[other] for other in others), rest[_SOLD_TOGETHER - 1])
        return self._last_sight[best] > max(moments)

    def _fitting(self, wishes: Wishes) -> list[Card]:
        """Return cards of the category that can be bought, as far as this agent minds, and that meet the wishes.

        What a card has no room to show is believed of what a search with that filter has found.
        """
        return [
            card
            for card in self._cards.values()
            if card["category"] == self._category
            and (card["in_stock"] or not self._skill.minds_stock)
            and all(self._meets(card, wishes, name) for name in wishes.attributes)
        ]

    def _meets(self, card: Card, wishes: Wishes, name: str) -> bool:
        is_met = wishes.is_met(card, name)
        if is_met is not None:
            return is_met
        said = FILTERS.get(name, name)
        return any(
            said in searched.filters and card["product_id"] in searched.found for searched in self._searches.values()
        )


def _question(name: str) -> str:
    if name == "priority":
        return "What matters most to you?"
    if name == "compatibility":
        return "What must stay the same?"
    label = _LABELS.get(name) or _SHORTER.get(name) or name.replace("_", " ")
    return f"Which {label} do you want?"
