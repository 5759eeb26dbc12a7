"""The expert for CART: reads what the customer writes, searches with filters, asks, adds, listens, submits."""

from __future__ import annotations

from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agents.agent import Action, call, one_at_a_time
from ecom_rlve.evaluation.agents.expert import language
from ecom_rlve.evaluation.agents.expert.notes import Card, ItemNotes, Vocabulary, agreements, agrees
from ecom_rlve.evaluation.agents.expert.skill import Skill
from ecom_rlve.models import ToolResult

_NOUN_SCORE = 84
_FACTS_PER_QUESTION = 3
_SEARCHES_PER_ITEM = 5
_PAGE = 10
_LABELS = {"color": "colour", "connector_type": "connector", "item_form": "form", "finish_type": "finish"}
_ITEM_MARKS = ("the", "one", "single", "two", "three", "four", "five", "six")


class CartExpert:
    """Plays one CART episode."""

    def __init__(self, skill: Skill | None = None) -> None:
        self._skill = skill or Skill()
        self._vocabulary = Vocabulary()
        self._items: list[ItemNotes] = []
        self._segments: list[str] | None = None
        self._sent: list[tuple[dict[str, Any], ItemNotes | str]] = []
        self._cards: dict[str, Card] = {}
        self._sold_out: list[ItemNotes] = []
        self._is_confirmed = False
        self._looked_over = 0

    def act(self, result: StepResult) -> Action:
        """Return the next action."""
        observation = result.observation
        self._take_in(observation.tool_results)
        style = result.metadata.style
        if self._segments is None:
            self._segments = _item_segments(observation.user_message)
        else:
            self._listen(observation.user_message)
        if self._unplaced:
            searches = self._first_searches(observation.tool_calls_left)
            return self._sending(searches, {}, style)
        if self._sold_out and self._skill.minds_stock:
            item = self._sold_out.pop(0)
            return {"assistant_message": f"The {item.noun} you want is sold out. What should I take instead?"}
        return self._work(observation.tool_calls_left, observation.turns_left, style)

    def _work(self, room: int, turns_left: int, style: str) -> Action:
        items = [item for item in self._items if not item.is_dropped]
        is_urgent = turns_left <= 2
        questions = [] if is_urgent or not self._skill.asks else self._questions(items)
        calls: list[tuple[dict[str, Any], ItemNotes | str]] = []
        for item in items:
            step = self._next_call(item, is_urgent, bool(questions))
            calls += [(each, item) for each in step]
        calls = calls[:room]
        if calls or questions:
            message = {"assistant_message": " ".join(questions)} if questions else {}
            return self._sending(calls, message, style)
        is_settled = self._is_confirmed or is_urgent or not self._items or self._looked_over > 0
        self._looked_over += 1
        if is_settled or self._skill.guesses:
            return {"answer": {"done": True}}
        return {"assistant_message": "Does everything in your cart look right?"}

    def _sending(
        self, calls: list[tuple[dict[str, Any], ItemNotes | str]], message: dict[str, Any], style: str
    ) -> Action:
        action = one_at_a_time({**message, "tool_calls": [each for each, _ in calls]}, style)
        self._sent = calls[: len(action.get("tool_calls", []))]
        return action

    @property
    def _unplaced(self) -> list[str]:
        return [segment for segment in self._segments or [] if segment]

    def _first_searches(self, room: int) -> list[tuple[dict[str, Any], ItemNotes | str]]:
        limit = _PAGE if self._skill.filters else 5
        return [
            (call("catalog_search", query=segment[:400], limit=limit), segment) for segment in self._unplaced[:room]
        ]

    def _take_in(self, results: list[ToolResult]) -> None:
        for result, (sent, about) in zip(results, self._sent, strict=False):
            cards = (result.result or {}).get("results", [])
            self._vocabulary.learn(cards)
            self._cards.update({card["product_id"]: card for card in cards})
            if isinstance(about, str):
                self._place(about, cards)
            elif sent["name"] == "catalog_search":
                self._take_search(about, sent["args"], result)
            elif sent["name"] == "catalog_get_variants" and result.result:
                about.variants = result.result["variants"]
                about.variant_attribute = _variant_attribute(about.variants)
            elif result.code == "OUT_OF_STOCK":
                self._sold_out.append(about)
            elif result.result and "line" in result.result:
                about.line = result.result["line"]
            elif result.result and "removed" in result.result:
                about.line = None
        self._sent = []

    def _place(self, segment: str, cards: list[Card]) -> None:
        """Find out which kind of thing a segment of the opening is about."""
        self._segments = [other for other in self._segments or [] if other != segment]
        categories = list(dict.fromkeys(card["category"] for card in cards))
        scored = [(_noun_score(category, segment), -at, category) for at, category in enumerate(categories)]
        score, _, category = max(scored, default=(0.0, 0, ""))
        if score < _NOUN_SCORE:
            if self._items and not cards:
                self._items[-1].text += f" {segment}"
            return
        item = next((item for item in self._items if item.category == category), None)
        if item is None:
            item = ItemNotes("", category)
            self._items.append(item)
            if not self._skill.compares or not self._skill.filters:
                item.cards = {card["product_id"]: card for card in cards if card["category"] == category}
                item.total = len(item.cards)
        item.text += f"\n{segment}"

    def _take_search(self, item: ItemNotes, args: dict[str, Any], result: ToolResult) -> None:
        item.attempts += 1
        if result.error:
            item.searched = ("failed", *item.searched)
            if "did you mean " in result.error and args.get("brand"):
                best = result.error.split("did you mean ")[1].split(",")[0].rstrip("?")
                self._vocabulary.values.setdefault(item.category or "", {}).setdefault("brand", set()).add(best)
            return
        found = (result.result or {}).get("results", [])
        item.total = (result.result or {}).get("total")
        facts = item.facts(self._vocabulary)
        fitting = [card for card in found if card["category"] == item.category and agrees(card, facts)]
        item.cards = {card["product_id"]: card for card in fitting}

    def _listen(self, text: str) -> None:
        if not text:
            return
        for sentence in language.sentences(text):
            title = language.quoted(sentence)
            item = self._item_named(sentence)
            if title is not None:
                self._settle_for(title, item)
            elif item is not None and _leaves_out(sentence):
                item.is_dropped = True
            elif item is not None:
                item.text += f"\n{sentence}"
                item.searched = ()
                item.attempts = min(item.attempts, _SEARCHES_PER_ITEM - 2)
            elif _approves(sentence):
                self._is_confirmed = True

    def _item_named(self, sentence: str) -> ItemNotes | None:
        scored = [(_noun_score(item.category or "", sentence), -at) for at, item in enumerate(self._items)]
        score, at = max(scored, default=(0.0, 0))
        return self._items[-at] if score >= _NOUN_SCORE else (self._items[0] if len(self._items) == 1 else None)

    def _settle_for(self, title: str, item: ItemNotes | None) -> None:
        for card in self._cards.values():
            if card["title"].casefold() == title.casefold():
                target = item or next((item for item in self._items if item.category == card["category"]), None)
                if target is not None:
                    target.chosen, target.is_fallback, target.line = card["product_id"], True, None

    def _next_call(self, item: ItemNotes, is_urgent: bool, is_asking: bool) -> list[dict[str, Any]]:
        if item.chosen is None and not self._choose(item, is_urgent):
            search = self._search(item)
            return [search] if search else []
        if item.variants is None and not item.is_fallback:
            return [call("catalog_get_variants", product_id=item.chosen)]
        if is_asking and not is_urgent and not self._skill.guesses:
            return []
        return self._put(item)

    def _choose(self, item: ItemNotes, is_urgent: bool) -> bool:
        """Decide on a product where one stands out, or where time runs out."""
        facts = item.facts(self._vocabulary)
        ranked = sorted(item.cards.values(), key=lambda card: -agreements(card, facts))
        is_decided = item.total == 1 or len(ranked) == 1 or not self._skill.compares
        is_exhausted = item.attempts >= _SEARCHES_PER_ITEM or not self._skill.filters
        if not ranked or not (is_decided or is_exhausted or is_urgent):
            return False
        if not self._skill.compares:
            ranked = list(item.cards.values())
        if item.total not in (None, 1) and self._skill.asks and not is_urgent and self._open_points(item):
            return False
        item.chosen = ranked[0]["product_id"]
        if not ranked[0]["in_stock"]:
            self._sold_out.append(item)
        return True

    def _search(self, item: ItemNotes) -> dict[str, Any] | None:
        if not self._skill.filters or item.attempts >= _SEARCHES_PER_ITEM:
            return None
        facts = item.facts(self._vocabulary)
        filters: dict[str, Any] = {name: value for name, value in facts.items() if isinstance(value, str)}
        if "price" in facts:
            filters["price_min"] = filters["price_max"] = facts["price"]
        brand = language.brand_said(item.text)
        if "brand" not in filters and brand and "failed" not in item.searched:
            filters["brand"] = brand
        key = (*sorted(filters.items()),)
        offset = 0
        if key == item.searched:
            offset = _PAGE * item.attempts if (item.total or 0) > _PAGE * item.attempts else 0
        item.searched = key
        # A repeated search gives the same page; other words draw other distractors.
        words = " ".join(language.words(item.text)[item.attempts :])[:300] or item.noun
        return call(
            "catalog_search", query=words, category=item.category, limit=_PAGE, offset=offset or None, **filters
        )

    def _open_points(self, item: ItemNotes) -> list[str]:
        """Return attributes by which the remaining candidates differ and which were not asked for."""
        facts = item.facts(self._vocabulary)
        known = self._vocabulary.values.get(item.category or "", {})
        names = ["brand", "model", "price", *(name for name in sorted(known) if name not in ("brand", "model"))]
        cards = list(item.cards.values())
        return [
            name
            for name in names
            if name not in facts
            and name not in item.asked
            and name != item.variant_attribute
            and (len(cards) < 2 or len({str(card.get(name)) for card in cards}) > 1)
        ]

    def _questions(self, items: list[ItemNotes]) -> list[str]:
        """Return up to three facts' worth of questions and note them as asked."""
        wanted: list[tuple[ItemNotes, str]] = []
        for item in items:
            if item.is_fallback:
                continue
            if not self._skill.guesses:
                if item.quantity is None and "quantity" not in item.asked:
                    wanted.append((item, "quantity"))
                if item.variants and item.wanted_variant() is None and "variant" not in item.asked:
                    wanted.append((item, "variant"))
            if item.chosen is None and item.total not in (None, 1):
                wanted += [(item, name) for name in self._open_points(item)[:_FACTS_PER_QUESTION]]
        asked = []
        for item, name in wanted[:_FACTS_PER_QUESTION]:
            item.asked.add(name)
            item.searched = ()
            asked.append(_question(item, name))
        return asked

    def _put(self, item: ItemNotes) -> list[dict[str, Any]]:
        """Return what brings the item into the cart as wanted, nothing where it is there."""
        variant = item.wanted_variant()
        if self._skill.guesses and item.line is None:
            variant = item.variants[0] if item.variants else None
        variant_id = variant["variant_id"] if variant else None
        if variant and not variant.get("in_stock", True) and item not in self._sold_out and self._skill.minds_stock:
            self._sold_out.append(item)
            item.variants = None
            return []
        quantity = item.quantity or 1
        line = item.line
        if line is None:
            quantity = 1 if self._skill.guesses else quantity
            return [call("cart_add", product_id=item.chosen, variant_id=variant_id, quantity=quantity)]
        is_other = line["product_id"] != item.chosen or (variant is not None and not _is_variant(line, variant))
        if is_other:
            return [call("cart_remove", line_id=line["line_id"])]
        if line["quantity"] != quantity:
            return [call("cart_set_quantity", line_id=line["line_id"], quantity=quantity)]
        return []


def _item_segments(text: str) -> list[str]:
    """Return the parts of the opening that may each describe an item, the likeliest first in their order."""
    joined: list[str] = []
    for sentence in language.sentences(text):
        starts_with = language.words(sentence)[:1]
        if joined and starts_with in (["it"], ["they"]):
            joined[-1] += f" {sentence}"
        else:
            joined.append(sentence)
    likely = [
        part for part in joined if any(word in _ITEM_MARKS or any(c.isdigit() for c in word) for word in language.words(part))
    ]
    return likely or joined


def _noun_score(category: str, text: str) -> float:
    return max(language.likeness(category, text), language.likeness(language.singular(category), text))


def _variant_attribute(variants: list[dict[str, Any]]) -> str | None:
    return next((name for name in variants[0] if name not in ("variant_id", "in_stock")), None) if variants else None


def _is_variant(line: dict[str, Any], variant: dict[str, Any]) -> bool:
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
