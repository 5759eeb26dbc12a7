"""The expert for CART: reads what the customer writes, searches with filters, asks, adds, listens, submits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, call, one_at_a_time
from ecom_rlve.evaluation.agents.skill import Skill
from ecom_rlve.evaluation.reading import language
from ecom_rlve.evaluation.reading.item_notes import Card, ItemNotes, Vocabulary, agreements, agrees
from ecom_rlve.models import ToolResult

Sent = tuple[dict[str, Any], Callable[[dict[str, Any], ToolResult], None]]
"""A call and what to do with its result."""

_NOUN_SCORE = 78
_FACTS_PER_QUESTION = 3
_SEARCHES = 3
"""Searches with the same filters before the best of what was seen is taken."""
_FEWEST_FACTS = 3
"""Customers describe a product by at least so many facts: with fewer, something was left out."""
_SHORT_TALK = 4
"""Turn budget of the easiest conversations."""
_PAGE = 10
_FIRST_PAGE = 5
_LABELS = {"color": "colour", "connector_type": "connector", "item_form": "form", "finish_type": "finish"}
_ITEM_MARKS = {"the", "one", "single", "two", "three", "four", "five", "six"}
_UNIT_FILTERS = {"g": "weight_max", "w": "wattage_min", "ml": "capacity_min", "h": "battery_life_min"}


class CartExpert:
    """Plays one CART episode."""

    def __init__(self, skill: Skill | None = None) -> None:
        self._skill = skill or Skill()
        self._vocabulary = Vocabulary()
        self._items: list[ItemNotes] = []
        self._segments: list[str] | None = None
        self._sent: list[Sent] = []
        self._cards: dict[str, Card] = {}
        self._sold_out: list[ItemNotes] = []
        self._is_confirmed = False
        self._checks = 0
        self._reserve = 2
        self._is_piecemeal = False

    def act(self, result: StepResult) -> Action:
        """Return the next action."""
        observation = result.observation
        for answer, (sent_call, take) in zip(observation.tool_results, self._sent, strict=False):
            cards = (answer.result or {}).get("results", [])
            self._vocabulary.learn(cards)
            self._cards.update({card["product_id"]: card for card in cards})
            take(sent_call, answer)
        if self._segments is None:
            self._segments = _item_segments(observation.user_message)
            # Stock-outs come with longer conversations: one turn is kept to make good for one.
            self._reserve = 2 if (observation.max_turns or 0) <= _SHORT_TALK else 3
        else:
            for sentence in language.sentences(observation.user_message):
                self._hear(sentence)
        self._is_piecemeal = result.metadata.style == "tool"
        # A tool at a time, a call too many for the open turn opens the next.
        room = max(1, observation.tool_calls_left) if self._is_piecemeal else observation.tool_calls_left
        action, self._sent = self._decide(room, observation.turns_left)
        action["tool_calls"] = [sent for sent, _ in self._sent]
        if self._is_piecemeal and self._sent and not action.get("answer"):
            action["end_turn"] = False
        action = one_at_a_time(action, result.metadata.style)
        self._sent = self._sent[: len(action["tool_calls"])]
        return action

    def _decide(self, room: int, turns_left: int) -> tuple[Action, list[Sent]]:
        if self._segments and turns_left > 1:
            limit = _PAGE if self._skill.filters else _FIRST_PAGE
            return {}, [
                (call("catalog_search", query=segment[:400], limit=limit), self._placing(segment))
                for segment in self._segments[:room]
            ]
        items = [item for item in self._items if not item.is_dropped]
        if self._sold_out and self._skill.minds_stock and turns_left > 1:
            item = self._sold_out.pop(0)
            item.is_reported = True
            return {"assistant_message": f"The {item.noun} is sold out. What should I take instead?"}, []
        is_last = turns_left <= 1
        if self._is_piecemeal and not is_last and (look := self._next_look(items)):
            return {}, [look]
        questions = self._questions(items, is_spare=turns_left > self._reserve) if turns_left > 2 else []
        reads = [self._reads(item, is_last) for item in items]
        calls = [sent for wanted in (0, 1) for read in reads if (sent := read[wanted])]
        if is_last:
            return {"answer": {"done": True}}, [sent for item in items for sent in self._put(item)][:room]
        if not (questions or calls):
            calls = [sent for item in items for sent in self._put(item)]
        if calls or questions:
            return ({"assistant_message": " ".join(questions)} if questions else {}), calls[:room]
        if self._is_confirmed or self._checks or not items or self._skill.guesses:
            return {"answer": {"done": True}}, []
        self._checks += 1
        return {"assistant_message": "Does everything in your cart look right?"}, []

    def _next_look(self, items: list[ItemNotes]) -> Sent | None:
        """Return the first search or look at variants that is needed: what is not sent now is not noted as sent."""
        for item in items:
            search, variants = self._reads(item, is_last=False)
            if search or variants:
                return search or variants
        return None

    def _placing(self, segment: str) -> Callable[[dict[str, Any], ToolResult], None]:
        """Return what finds out, from a first search, which kind of thing a segment of the opening is about."""

        def place(_sent: dict[str, Any], answer: ToolResult) -> None:
            cards = (answer.result or {}).get("results", [])
            self._segments = [other for other in self._segments or [] if other != segment]
            categories = dict.fromkeys(card["category"] for card in cards)
            scored = [(_noun_score(name, segment), -at, name) for at, name in enumerate(categories)]
            score, _, category = max(scored, default=(0.0, 0, ""))
            if score < _NOUN_SCORE:
                return
            item = next((item for item in self._items if item.category == category), None)
            if item is None:
                item = ItemNotes(category)
                self._items.append(item)
            item.text += f"\n{segment}"
            item.cards.update({card["product_id"]: card for card in cards if card["category"] == category})

        return place

    def _hear(self, sentence: str) -> None:
        title = language.quoted(sentence)
        scored = [(_noun_score(item.category, sentence), -at) for at, item in enumerate(self._items)]
        score, at = max(scored, default=(0.0, 0))
        item = self._items[-at] if score >= _NOUN_SCORE else None
        if title is not None:
            self._settle_for(title, item)
        elif item is not None and _leaves_out(sentence):
            item.is_dropped = True
        elif item is not None:
            item.text += f"\n{sentence}"
        elif _approves(sentence):
            self._is_confirmed = True

    def _settle_for(self, title: str, item: ItemNotes | None) -> None:
        for card in self._cards.values():
            if card["title"].casefold() == title.casefold():
                target = item or next((item for item in self._items if item.category == card["category"]), None)
                if target is not None:
                    target.chosen, target.is_fallback = card["product_id"], True

    def _reads(self, item: ItemNotes, is_last: bool) -> tuple[Sent | None, Sent | None]:
        """Choose a product where one stands out; return the search and the look at variants still needed."""
        facts = item.facts(self._vocabulary)
        if item.chosen and not item.is_fallback and not agrees(self._cards[item.chosen], facts):
            item.chosen = None
        fitting = [card for card in item.cards.values() if agrees(card, facts)]
        ranked = sorted(fitting or item.cards.values(), key=lambda card: -agreements(card, facts))
        search = None
        if item.chosen is None:
            if not self._skill.compares or not self._skill.filters:
                first = ranked if self._skill.compares else list(item.cards.values())
                item.chosen = first[0]["product_id"] if first else None
            elif self._is_decided(item, ranked, is_last):
                item.chosen = ranked[0]["product_id"]
                if not ranked[0]["in_stock"]:
                    self._sold_out.append(item)
            elif self._filters(item)[1] != item.filters or (item.attempts < _SEARCHES and not self._is_seen(item)):
                search = self._search(item)
        looked_at = item.chosen or (ranked[0]["product_id"] if ranked else None)
        if looked_at is None or looked_at in item.variants or item.is_fallback:
            return search, None

        def note(_: dict[str, Any], answer: ToolResult) -> None:
            if answer.result:
                item.variants[looked_at] = answer.result["variants"]
                if item.chosen == looked_at and not any(variant["in_stock"] for variant in answer.result["variants"]):
                    self._sold_out.append(item)

        return search, (call("catalog_get_variants", product_id=looked_at), note)

    def _is_seen(self, item: ItemNotes) -> bool:
        """Tell whether the searches have shown every product that passes the present filters, or a full page."""
        is_current = item.total is not None and self._filters(item)[1] == item.filters
        return is_current and len(item.seen) >= min(item.total or 0, _PAGE)

    def _is_decided(self, item: ItemNotes, ranked: list[Card], is_last: bool) -> bool:
        if not ranked or is_last:
            return bool(ranked)
        is_current = item.total is not None and self._filters(item)[1] == item.filters
        if not is_current or not (self._is_seen(item) or item.attempts >= _SEARCHES):
            return False
        return len(ranked) == 1 or not self._skill.asks or not self._open_points(item)

    def _filters(self, item: ItemNotes) -> tuple[dict[str, Any], tuple[Any, ...]]:
        facts = item.facts(self._vocabulary)
        filters: dict[str, Any] = {name: value for name, value in facts.items() if isinstance(value, str)}
        if "price" in facts:
            filters["price_min"] = filters["price_max"] = facts["price"]
        if "brand" not in filters and not item.brand_failed and (brand := language.brand_said(item.text)):
            filters["brand"] = brand
        is_variant = {"weight": "weight_max", "wattage": "wattage_min", "capacity": "capacity_min"}
        skipped = is_variant.get(item.variant_attribute or "")
        for number, unit in language.measures_with_units(item.text):
            name = _UNIT_FILTERS.get(unit)
            if name is not None and name != skipped and not item.is_fallback:
                filters[name] = number
        return filters, (*sorted(filters.items()),)

    def _search(self, item: ItemNotes) -> Sent:
        filters, key = self._filters(item)
        if key != item.filters:
            item.filters, item.attempts, item.total = key, 0, None
            item.cards, item.seen = {}, set()
        # A repeated search gives the same page; other words draw other distractors.
        spoken = language.words(item.text)[item.attempts :]
        query = " ".join(spoken)[:300] or item.noun
        item.attempts += 1

        def take(sent: dict[str, Any], answer: ToolResult) -> None:
            if answer.error:
                item.brand_failed = item.brand_failed or filters.get("brand") not in (None, "")
                if "did you mean " in answer.error and "brand" in sent["args"]:
                    best = answer.error.split("did you mean ")[1].split(",")[0].rstrip("?")
                    self._vocabulary.add(item.category, "brand", best)
                return
            result = answer.result or {}
            item.total = result["total"]
            facts = item.facts(self._vocabulary)
            words = {name: value for name, value in facts.items() if name in sent["args"]}
            for card in result["results"]:
                if card["category"] == item.category and agrees(card, words):
                    item.seen.add(card["product_id"])
                if card["category"] == item.category and agrees(card, facts):
                    item.cards[card["product_id"]] = card

        sent = call("catalog_search", query=query, category=item.category, limit=_PAGE, **filters)
        return sent, take

    def _open_points(self, item: ItemNotes) -> list[str]:
        """Return attributes by which the remaining candidates differ and which were not asked for."""
        facts = item.facts(self._vocabulary)
        known = self._vocabulary.values.get(item.category, {})
        cards = [card for card in item.cards.values() if agrees(card, facts)]
        spread = {name: len({str(card.get(name)) for card in cards}) for name in ("price", *sorted(known))}
        return [
            name
            for name in sorted(spread, key=lambda name: -spread[name])
            if name not in facts
            and name not in item.asked
            and name != item.variant_attribute
            and (len(cards) < 2 or spread[name] > 1)
        ]

    def _questions(self, items: list[ItemNotes], *, is_spare: bool) -> list[str]:
        """Return up to three facts' worth of questions and note them as asked.

        What the customer surely knows costs no turn; where turns are spare, what they may know is asked too.
        """
        if not self._skill.asks:
            return []
        sure: list[tuple[ItemNotes, str]] = []
        likely: list[tuple[ItemNotes, str]] = []
        for item in items:
            if item.is_fallback or self._skill.guesses:
                continue
            facts = item.facts(self._vocabulary)
            if item.quantity is None and "quantity" not in item.asked:
                sure.append((item, "quantity"))
            if item.variants and item.wanted_variant() is None and "variant" not in item.asked:
                sure.append((item, "variant"))
            if item.chosen is None and len(item.cards) > 1 and not {"brand"} & (facts.keys() | item.asked):
                sure.append((item, "brand"))
            if item.chosen is None and (len(facts) < _FEWEST_FACTS or item.total not in (None, 1)):
                likely += [(item, name) for name in self._open_points(item)]
        asked = []
        if not sure and not is_spare:
            return []
        for item, name in (sure + likely)[:_FACTS_PER_QUESTION]:
            item.asked.add(name)
            asked.append(_question(item, name))
        return asked

    def _put(self, item: ItemNotes) -> list[Sent]:
        """Return what brings the item into the cart as wanted, nothing where it is there."""
        if item.chosen is None or (item in self._sold_out and self._skill.minds_stock):
            return []
        variant, quantity = item.wanted_variant(), item.quantity or 1
        if item.chosen not in item.variants:
            variant = None
        if self._skill.guesses and item.line is None:
            variant, quantity = None, 1
        if variant and not variant.get("in_stock", True) and self._skill.minds_stock:
            self._sold_out.append(item)
            item.variants = {}
            return []
        variant_id = variant["variant_id"] if variant else None
        if item.line is None:
            added = call("cart_add", product_id=item.chosen, variant_id=variant_id, quantity=quantity)
        elif item.line["product_id"] != item.chosen or (variant is not None and not _is_line_of(item.line, variant)):
            added = call("cart_remove", line_id=item.line["line_id"])
        elif item.line["quantity"] != quantity:
            added = call("cart_set_quantity", line_id=item.line["line_id"], quantity=quantity)
        else:
            return []

        def note(_: dict[str, Any], answer: ToolResult) -> None:
            if answer.code == "OUT_OF_STOCK" and item.is_reported and self._skill.minds_stock:
                # The customer still sees what they want: what is not there is not it.
                item.cards.pop(item.chosen or "", None)
                item.chosen = None
            elif answer.code == "OUT_OF_STOCK":
                self._sold_out.append(item)
            item.line = (answer.result or {}).get("line")

        return [(added, note)]


def _item_segments(text: str) -> list[str]:
    """Return the parts of the opening that may each describe an item."""
    joined: list[str] = []
    for sentence in language.sentences(text):
        if joined and language.words(sentence)[:1] in (["it"], ["they"]):
            joined[-1] += f" {sentence}"
        else:
            joined.append(sentence)
    likely = []
    for at, part in enumerate(joined):
        is_listed = part.endswith(";") or (at and joined[at - 1].endswith(";"))
        if is_listed or any(word in _ITEM_MARKS or word.isdigit() for word in language.words(part)):
            likely.append(part)
    return likely or joined


def _noun_score(category: str, text: str) -> float:
    return max(language.likeness(form, text) for form in language.noun_forms(category))


def _is_line_of(line: dict[str, Any], variant: dict[str, Any]) -> bool:
    return all(line.get(name) == value for name, value in variant.items() if name not in ("variant_id", "in_stock"))


def _question(item: ItemNotes, name: str) -> str:
    if name == "quantity":
        return f"How many do you want of the {item.noun}?"
    if name == "variant":
        name = item.variant_attribute or "variant"
    label = _LABELS.get(name, name.replace("_", " "))
    return f"Which {label} should the {item.noun} have?"


def _leaves_out(sentence: str) -> bool:
    text = f" {' '.join(language.words(sentence))} "
    return text.startswith(" skip ") or " do without " in text or (" leave " in text and " out " in text)


def _approves(sentence: str) -> bool:
    tokens = language.words(sentence)
    return tokens[:1] == ["yes"] or "correct" in tokens or "right" in tokens
