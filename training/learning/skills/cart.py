"""Skills for CART: search, ask, look at variants, add, correct the cart, report what is sold out, submit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ecom_rlve.models import Observation, ToolResult
from ecom_rlve.training.learning.matching import Mention, likeness, mentions_in, singular
from ecom_rlve.training.learning.notebook import how_many, question, say, submit, use
from ecom_rlve.training.learning.policy import Candidate
from ecom_rlve.training.learning.skills.shelf import (
    WORDS,
    Card,
    Fit,
    ShelfNotes,
    Stated,
    counts_in,
    filters_of,
    fit_of,
    words_of,
)

_SHOWN = 3
"""Cards of each item that are offered, those that agree best first."""
_PAGE = 10
_NEAR = 48
"""Letters between a number and a thing up to which it counts as how many are wanted."""
_NARROW = ("brand", "model")


class CartNotes(ShelfNotes):
    """Notes of one CART episode."""

    def __init__(self, opening: Observation) -> None:
        self.variants: dict[str, list[dict[str, Any]]] = {}
        self.lines: dict[str, dict[str, Any]] = {}
        self._ranked: dict[str, list[tuple[Card, Fit]]] = {}
        self._counts: dict[str, int] = {}
        super().__init__(opening)

    def read(self, seen: Observation) -> None:
        super().read(seen)
        self._ranked = {}
        self._counts = {}

    def take(self, result: ToolResult) -> None:
        super().take(result)
        fields = result.result or {}
        if result.name == "catalog_get_variants" and fields:
            self.variants[fields["product_id"]] = fields["variants"]
        elif result.name in ("cart_add", "cart_set_quantity") and "line" in fields:
            self.lines[fields["line"]["line_id"]] = fields["line"]
        elif result.name == "cart_view" and fields:
            self.lines = {line["line_id"]: line for line in fields.get("lines", ())}

    def note(self, chosen: Candidate) -> None:
        super().note(chosen)
        for each in chosen.action.get("tool_calls", ()):
            if each["name"] == "cart_remove":
                self.lines.pop(each["args"]["line_id"], None)

    def offers(self) -> list[Candidate]:
        things = self.things()
        opening = use("catalog_search", query=self.first[:900], limit=_PAGE)
        offers = [
            Candidate("search message", opening),
            *self.sentence_searches(),
            Candidate("history", use("user_get_visit_history")),
            question(self, "ask", "anything", "Is there anything else that I should know?"),
            Candidate("submit", submit(), self._cart_state()),
        ]
        for thing in things:
            offers += self._searches(thing)
            offers += self._questions(thing)
            offers += self._puts(thing)
        for line in self.lines.values():
            offers += self._corrections(line)
        return offers

    def _searches(self, thing: str) -> Iterator[Candidate]:
        facts, state = self.facts()[thing], self._item_state(thing)
        words = words_of(thing, facts)
        kinds = {
            "search kind": {},
            "search brand": filters_of(facts, _NARROW),
            "search all": filters_of(facts),
        }
        for skill, filters in kinds.items():
            args = {"query": words, "category": thing, "limit": _PAGE, **filters}
            for offset in (0, _PAGE):
                action = use("catalog_search", **args, **({"offset": offset} if offset else {}))
                own = (f"page:{offset}", f"filters:{how_many(len(filters))}")
                yield Candidate(skill, action, (*own, *state))

    def _questions(self, thing: str) -> Iterator[Candidate]:
        one, facts, state = singular(thing), self.facts()[thing], self._item_state(thing)
        stated = {fact.attribute for fact in facts}
        attribute = self._variant_attribute(thing)
        topics = {
            "brand": (f"Which brand should the {one} be?", "brand" in stated),
            "price": (f"What should the {one} cost?", "price" in stated),
            "like": (f"What should the {one} be like?", len(facts) > 2),
            "variant": (f"Which variant of the {one} do you want?", attribute in stated),
            "quantity": (f"How many of the {one} do you want?", self._quantity(thing) > 0),
        }
        for topic, (text, is_known) in topics.items():
            asked = self.asked[f"{topic} {thing}"] > 0
            yield question(self, f"ask {topic}", f"{topic} {thing}", text, f"known:{is_known},{asked}", *state)

    def _puts(self, thing: str) -> Iterator[Candidate]:
        state, quantity = self._item_state(thing), self._quantity(thing)
        named = self.named_in(self.latest)
        for at, (card, fit) in enumerate(self._by_fit(thing)[:_SHOWN]):
            product_id = card["product_id"]
            own = (
                *self._fit_state(thing, card, fit),
                f"rank:{at}",
                f"stock:{card.get('in_stock')}",
                f"named:{product_id in named}",
                f"visited:{product_id in self.visited}",
                *state,
            )
            if product_id not in self.variants:
                # Nothing is added unseen: adding is a gamble that pays early, and whoever learns it never looks.
                yield Candidate("variants", use("catalog_get_variants", product_id=product_id), own)
                continue
            chosen, how = self._variant(thing, product_id)
            if self._is_in_cart(product_id, chosen):
                # Adding it again would add to its number, which is what setting the quantity is for.
                continue
            counts = {1: "one", quantity: "said"} if quantity else {1: "one"}
            for number, name in counts.items():
                sure = f"{name},{quantity > 0},{self.asked[f'quantity {thing}'] > 0}"
                for variant_id, kind in {None: "first", chosen: how}.items():
                    add = use("cart_add", product_id=product_id, variant_id=variant_id, quantity=number)
                    yield Candidate("add", add, (f"count:{sure}", f"variant:{kind},{how}", *own))
            if not card.get("in_stock", True) or how == "sold out":
                text = f"The {singular(thing)} is sold out. What should I take instead?"
                asked = how_many(self.asked[f"gone {thing}"], 2)
                yield Candidate("report", say(text), (f"ask:gone {thing}", f"again:{asked}", *own))

    def _corrections(self, line: dict[str, Any]) -> Iterator[Candidate]:
        thing = self.cards.get(line["product_id"], {}).get("category", "")
        quantity = self._quantity(thing)
        fit = fit_of(self.cards.get(line["product_id"], {}), self.facts().get(thing, ()))
        own = (f"broken:{fit.broken > 0}", f"differs:{0 < quantity != line['quantity']}", f"news:{bool(self.latest)}")
        yield Candidate("remove", use("cart_remove", line_id=line["line_id"]), own)
        if quantity:
            change = use("cart_set_quantity", line_id=line["line_id"], quantity=quantity)
            yield Candidate("set quantity", change, own)

    def _variant_attribute(self, thing: str) -> str:
        """Return the attribute in which the variants of a kind differ; empty before any were listed."""
        for card in self.of(thing):
            for each in self.variants.get(card["product_id"], ())[:1]:
                return next((name for name in each if name not in ("variant_id", "in_stock")), "")
        return ""

    def _variant(self, thing: str, product_id: str) -> tuple[str | None, str]:
        """Return the variant that was said, and how that is known."""
        listed = self.variants.get(product_id)
        if listed is None:
            return None, "unseen"
        text = self.text.casefold()
        name = self._variant_attribute(thing)
        wanted = {fact.value for fact in self.facts()[thing] if fact.attribute == name}
        said = [each for each in listed if each.get(name) in wanted] or [
            each for each in listed if isinstance(each.get(name), str) and likeness(each[name].casefold(), text) > 0
        ]
        if not said:
            return None, "one" if len(listed) == 1 else "unsaid"
        if not said[-1].get("in_stock", True):
            return said[-1]["variant_id"], "sold out"
        return said[-1]["variant_id"], "said" if len(said) == 1 else "several"

    def _vocabulary(self) -> frozenset[tuple[str, str]]:
        listed = (each for variants in self.variants.values() for each in variants)
        shown = {(name, value) for each in listed for name, value in each.items() if isinstance(value, str)}
        return super()._vocabulary() | {(name, value) for name, value in shown if name in WORDS}

    def _quantity(self, thing: str) -> int:
        """Return how many of a thing were said to be wanted last; 0 where nothing was said."""
        if thing not in self._counts:
            self._counts[thing] = self._read_quantity(thing)
        return self._counts[thing]

    def _read_quantity(self, thing: str) -> int:
        found = 0
        for message in self.said:
            counts = counts_in(message)
            for mention in mentions_in(message, tuple(self.things())):
                near = [n for n, at in counts if 0 <= mention.start - at <= _NEAR and not _parted(message, at, mention)]
                if mention.name == thing and near:
                    found = near[-1]
        return found

    def _by_fit(self, thing: str) -> list[tuple[Card, Fit]]:
        if thing not in self._ranked:
            facts = self._of_product(thing)
            pairs = [(card, fit_of(card, facts)) for card in self.of(thing)]
            self._ranked[thing] = sorted(pairs, key=self._order)
        return self._ranked[thing]

    def _order(self, pair: tuple[Card, Fit]) -> tuple[int, int, bool, int]:
        """Return by what cards are ranked: of those that fit alike, visited ones first, then those in said words."""
        card, fit = pair
        return fit.broken, -fit.met, card["product_id"] not in self.visited, -self.words_shared(card)

    def _equals(self, thing: str) -> int:
        """Return how many cards of a kind are as likely as the likeliest one."""
        orders = [self._order(pair) for pair in self._by_fit(thing)]
        return orders.count(orders[0]) if orders else 0

    def _of_product(self, thing: str) -> list[Stated]:
        """Return what was said of the product: of what its variants differ in, nothing."""
        attribute = self._variant_attribute(thing)
        return [fact for fact in self.facts()[thing] if fact.attribute != attribute]

    def _fit_state(self, thing: str, card: Card, fit: Fit) -> tuple[str, ...]:
        equal = self._equals(thing)
        is_best = self._order((card, fit)) == self._order(self._by_fit(thing)[0])
        return (
            f"met:{how_many(fit.met, 5)},{how_many(fit.broken, 2)}",
            f"unknown:{how_many(fit.unknown, 2)}",
            f"best:{is_best},{how_many(equal)}",
            f"sure:{fit.broken == 0 and fit.unknown == 0},{is_best and equal == 1},{how_many(fit.met)}",
        )

    def _is_in_cart(self, product_id: str, variant_id: str | None) -> bool:
        lines = (line for line in self.lines.values() if line["product_id"] == product_id)
        return any(variant_id in (None, line.get("variant_id")) for line in lines)

    def _has_line(self, thing: str) -> bool:
        return any(self.cards.get(line["product_id"], {}).get("category") == thing for line in self.lines.values())

    def _item_state(self, thing: str) -> tuple[str, ...]:
        pairs = self._by_fit(thing)
        clean = [fit for _, fit in pairs if fit.broken == 0]
        sure = sum(fit.unknown == 0 for fit in clean)
        return (
            f"in cart:{self._has_line(thing)}",
            f"facts:{how_many(len(self.facts()[thing]), 4)}",
            f"sure:{how_many(sure)},{self._has_line(thing)}",
            f"clear:{self._clarity(thing)},{self._has_line(thing)}",
        )

    def _clarity(self, thing: str) -> str:
        """Return how clear it is which product is meant."""
        pairs = self._by_fit(thing)
        if not pairs:
            return "none"
        best = pairs[0][1]
        is_likely = pairs[0][0]["product_id"] in self.visited
        return f"{how_many(self._equals(thing))},{best.broken > 0},{best.unknown > 0},{is_likely}"

    def _cart_state(self) -> tuple[str, ...]:
        things = self.things()
        missing = sum(not self._has_line(thing) for thing in things)
        return f"missing:{how_many(missing)},{bool(self.lines)}", f"things:{how_many(len(things))}"

    def state(self) -> tuple[str, ...]:
        has_history = bool(self.visited)
        unclear = next((self._clarity(each) for each in self.things() if not self._has_line(each)), "")
        return (
            *super().state(),
            *self._cart_state(),
            f"history:{has_history}",
            f"cards:{bool(self.cards)}",
            f"unclear:{unclear},{has_history}",
        )


def _parted(message: str, start: int, mention: Mention) -> bool:
    """Tell whether a sentence ends between a number and what may be counted by it."""
    return ". " in message[start : mention.start]
