"""Skills for CART: search, ask, look at variants, add, correct the cart, report what is sold out, submit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ecom_rlve.models import DomainCode, Observation, ToolResult
from ecom_rlve.training.learning.matching import likeness
from ecom_rlve.training.learning.notebook import how_many, question, say, submit, use
from ecom_rlve.training.learning.policy import Candidate
from ecom_rlve.training.learning.skills.cards import Card, Fit, Stated, filters_of, fit_of, quantity_said, words_of
from ecom_rlve.training.learning.skills.shelf import ShelfNotes, key_of
from ecom_rlve.training.learning.skills.wanted import Ranked, Variant, Wanted

_SHOWN = 3
"""Cards of each item that are offered, those that agree best first."""
_PAGE = 10
_MOST_PAGES = 3
_MOST_ASKED = 3
"""Facts that the customer tells in one reply (SPEC §7)."""
_QUESTIONS = {
    "quantity": "How many of the {} do you want?",
    "variant": "Which variant of the {} do you want?",
    "brand": "Which brand should the {} be?",
}
_LEAVE_OUT = re.compile(r"\b(leave|left|leaving|drop|skip|omit|strike|elsewhere|without|forget|farewell|adieu)\b")


class CartNotes(ShelfNotes):
    """Notes of one CART episode."""

    def __init__(self, opening: Observation) -> None:
        self.variants: dict[str, list[Variant]] = {}
        self.lines: dict[str, dict[str, Any]] = {}
        self._wanted: list[Wanted] | None = None
        self._reported = ""
        """The thing that was just said to be sold out."""
        self._dropped: set[str] = set()
        self._replaced: dict[str, str] = {}
        super().__init__(opening)

    def note(self, chosen: Candidate) -> None:
        super().note(chosen)
        self._reported = chosen.asks[0].removeprefix("gone ") if chosen.skill == "report" else ""
        for each in chosen.action.get("tool_calls", ()):
            if each["name"] == "cart_remove":
                self.lines.pop(each["args"]["line_id"], None)

    def read(self, seen: Observation) -> None:
        super().read(seen)
        self._wanted = None
        if self._reported and self.latest:
            named = self.named_in(self.latest) & {card["product_id"] for card in self.of(self._reported)}
            if named:
                self._replaced[self._reported] = min(named)
            elif _LEAVE_OUT.search(self.latest.casefold()):
                self._dropped.add(self._reported)

    def take(self, result: ToolResult) -> None:
        super().take(result)
        fields = result.result or {}
        if result.name == "catalog_get_variants" and fields:
            self.variants[fields["product_id"]] = fields["variants"]
        elif result.name in ("cart_add", "cart_set_quantity") and "line" in fields:
            self.lines[fields["line"]["line_id"]] = fields["line"]
        elif result.name == "cart_view" and fields:
            self.lines = {line["line_id"]: line for line in fields.get("lines", ())}
        elif result.code == DomainCode.OUT_OF_STOCK and result.name == "cart_add":
            self._mark_sold_out()

    def _mark_sold_out(self) -> None:
        product_id, variant_id = self._sent["product_id"], self._sent.get("variant_id")
        gone = [each for each in self.variants.get(product_id, ()) if each["variant_id"] == variant_id]
        for each in gone or [self.cards[product_id]]:
            each["in_stock"] = False

    def offers(self) -> list[Candidate]:
        offers = [
            Candidate("search message", use("catalog_search", query=self.first[:900], limit=_PAGE)),
            *self.sentence_searches(),
            Candidate("history", use("user_get_visit_history")),
            *self._questions(),
            Candidate("submit", submit(), self._cart_features()),
        ]
        for item in self.wanted():
            offers += self._searches(item)
            offers += self._puts(item)
        for line in self.lines.values():
            offers += self._corrections(line)
        return offers

    def wanted(self) -> list[Wanted]:
        """Return what is known of each thing that is wanted."""
        if self._wanted is None:
            self._wanted = [self._item(thing) for thing in self.things()]
        return self._wanted

    def _item(self, thing: str) -> Wanted:
        attribute = self._variant_attribute(thing)
        facts = [fact for fact in self.facts()[thing] if fact.attribute != attribute]
        replaced_by = self._replaced.get(thing, "")
        ranked = sorted(
            (self._ranked(card, facts, replaced_by) for card in self.of(thing)), key=lambda each: each.order
        )
        quantity, variant = quantity_said(self.said, tuple(self.things()), thing), self._variant_said(thing, attribute)
        stated = {
            "quantity": quantity > 0,
            "variant": bool(variant),
            "brand": any(fact.attribute == "brand" for fact in facts),
        }
        return Wanted(
            thing=thing,
            called=self.called(thing),
            facts=facts,
            attribute=attribute,
            variant=variant,
            quantity=quantity,
            ranked=ranked,
            search=self.searches.get(key_of({"category": thing, **filters_of(facts)})),
            line=next((line for line in self.lines.values() if self._thing_of(line) == thing), None),
            lacks=tuple(name for name, known in stated.items() if not known and not self.asked[f"{name} {thing}"]),
            is_dropped=thing in self._dropped,
            replaced_by=replaced_by,
        )

    def _ranked(self, card: Card, facts: list[Stated], replaced_by: str) -> Ranked:
        """Return a card with its rank: what the customer took instead, what fits, what was visited, what is named."""
        fit = fit_of(card, facts)
        product_id = card["product_id"]
        order = (
            product_id != replaced_by,
            fit.broken,
            -fit.met,
            product_id not in self.visited,
            -self.words_shared(card),
        )
        return Ranked(card, fit, order)

    def _thing_of(self, line: dict[str, Any]) -> str:
        return str(self.cards.get(line["product_id"], {}).get("category", ""))

    def _questions(self) -> Iterator[Candidate]:
        if self.lines:
            yield question(self, "ask right", "right", "Is everything in the cart right?", *self._cart_features())
        lacking = [(item, name) for item in self.wanted() if not item.is_dropped for name in item.lacks][:_MOST_ASKED]
        if lacking:
            text = " ".join(_QUESTIONS[name].format(item.called) for item, name in lacking)
            asks = tuple(f"{name} {item.thing}" for item, name in lacking)
            names = ",".join(sorted({name for _, name in lacking}))
            own = (f"number:{len(lacking)}", f"names:{names}", *self._cart_features())
            yield Candidate("ask details", say(text), own, asks)
        for item in self.wanted():
            text = f"What should the {item.called} be like?"
            yield question(self, "ask like", f"like {item.thing}", text, *item.features())

    def _searches(self, item: Wanted) -> Iterator[Candidate]:
        words, filters = words_of(item.called, item.facts), filters_of(item.facts)
        kinds = {"search kind": {}, "search brand": filters_of(item.facts, ("brand", "model")), "search all": filters}
        for skill, each in kinds.items():
            if skill != "search kind" and (not each or (skill == "search brand" and each == filters)):
                continue
            args = {"query": words, "category": item.thing, "limit": _PAGE, **each}
            known = self.searches.get(key_of(args))
            page = known.pages if known else 0
            if page < _MOST_PAGES and (not known or known.total > page * _PAGE):
                action = use("catalog_search", **args, **({"offset": page * _PAGE} if page else {}))
                own = (f"page:{page}", f"filters:{how_many(len(each))}")
                yield Candidate(skill, action, (*own, *item.features()))

    def _puts(self, item: Wanted) -> Iterator[Candidate]:
        for at, each in enumerate(item.ranked[:_SHOWN]):
            own = (*self._card_features(item, each), f"rank:{at}", *item.features())
            if each.id not in self.variants:
                # Nothing is added unseen: adding is a gamble that pays early, and whoever learns it never looks.
                yield Candidate("variants", use("catalog_get_variants", product_id=each.id), own)
                continue
            chosen, how = self._variant(item, each.id)
            is_gone = how == "sold out" or not each.card.get("in_stock", True)
            if is_gone:
                again = how_many(self.asked[f"gone {item.thing}"], 2)
                named = f"{each.card['title']} ({each.id})" + (f" in {item.variant}" if how == "sold out" else "")
                text = f"{named} is sold out. What should I take instead?"
                yield Candidate("report", say(text), (f"again:{again}", *own), (f"gone {item.thing}",))
            elif not self._is_in_cart(each.id, chosen):
                # Adding it again would add to its number, which is what setting the quantity is for.
                yield from self._adds(item, each, chosen, how, own)

    def _adds(
        self, item: Wanted, each: Ranked, chosen: str | None, how: str, own: tuple[str, ...]
    ) -> Iterator[Candidate]:
        for number in dict.fromkeys((1, item.quantity or 1)):
            sure = f"{number == item.quantity},{'quantity' in item.lacks}"
            for variant_id, kind in {None: "first", chosen: how}.items():
                add = use("cart_add", product_id=each.id, variant_id=variant_id, quantity=number)
                features = (f"count:{sure}", f"variant:{kind},{how},{'variant' in item.lacks}", *own)
                yield Candidate("add", add, features)

    def _corrections(self, line: dict[str, Any]) -> Iterator[Candidate]:
        item = next((each for each in self.wanted() if each.thing == self._thing_of(line)), None)
        if item is None:
            yield Candidate("remove", use("cart_remove", line_id=line["line_id"]), ("unknown",))
            return
        best = item.ranked[0].id if item.ranked else ""
        differs = 0 < item.quantity != line["quantity"]
        is_other = bool(item.variant) and item.variant != _shown(line, item.attribute)
        own = (
            f"best:{line['product_id'] == best},{item.is_dropped}",
            f"differs:{differs},{is_other}",
            f"news:{bool(self.latest)}",
        )
        yield Candidate("remove", use("cart_remove", line_id=line["line_id"]), own)
        if differs:
            change = use("cart_set_quantity", line_id=line["line_id"], quantity=item.quantity)
            yield Candidate("set quantity", change, own)

    def _variant_attribute(self, thing: str) -> str:
        """Return the attribute in which the variants of a kind differ; empty before any were listed."""
        for card in self.of(thing):
            for each in self.variants.get(card["product_id"], ())[:1]:
                return next((name for name in each if name not in ("variant_id", "in_stock")), "")
        return ""

    def _variant_said(self, thing: str, attribute: str) -> str:
        """Return the variant that was said last, as lists of variants show it."""
        listed = (each for card in self.of(thing) for each in self.variants.get(card["product_id"], ()))
        shown = dict.fromkeys(_shown(each, attribute) for each in listed)
        stated = [fact.value for fact in self.facts()[thing] if fact.attribute == attribute]
        for value in stated:
            found = [each for each in shown if _is_alike(each, value)]
            if found:
                return found[0]
        text = self.text.casefold()
        return next((each for each in shown if likeness(each.casefold(), text) > 0), "")

    def _variant(self, item: Wanted, product_id: str) -> tuple[str | None, str]:
        """Return the variant of a product that was said, and how that is known."""
        if not item.variant or item.replaced_by == product_id:
            return None, "unsaid"
        said = [each for each in self.variants[product_id] if _shown(each, item.attribute) == item.variant]
        if not said:
            return None, "not listed"
        return said[0]["variant_id"], "said" if said[0].get("in_stock", True) else "sold out"

    def _card_features(self, item: Wanted, each: Ranked) -> tuple[str, ...]:
        fit: Fit = each.fit
        is_best = each.order == item.ranked[0].order
        return (
            f"met:{how_many(fit.met, 4)},{how_many(fit.broken, 2)}",
            f"unknown:{how_many(fit.unknown, 2)},{how_many(fit.broken, 2)}",
            f"best:{is_best},{how_many(item.likely)}",
            f"sure:{is_best},{item.clarity()},{item.looked()}",
            f"stock:{each.card.get('in_stock')},{item.replaced_by == each.id}",
            f"visited:{each.id in self.visited},{how_many(item.likely)}",
        )

    def _is_in_cart(self, product_id: str, variant_id: str | None) -> bool:
        lines = (line for line in self.lines.values() if line["product_id"] == product_id)
        return any(variant_id in (None, line.get("variant_id")) for line in lines)

    def _cart_features(self) -> tuple[str, ...]:
        wanted = [item for item in self.wanted() if not item.is_dropped]
        missing = sum(item.line is None for item in wanted)
        lacks = sum(len(item.lacks) for item in wanted)
        wrong = sum(0 < item.quantity != item.line["quantity"] for item in wanted if item.line)
        return (
            f"missing:{how_many(missing)},{bool(self.lines)}",
            f"things:{how_many(len(wanted))},{bool(self.visited)}",
            f"lacking:{how_many(lacks)},{how_many(missing)}",
            *(f"lacking {name}:{how_many(sum(name in item.lacks for item in wanted), 2)}" for name in _QUESTIONS),
            f"wrong:{how_many(wrong, 2)}",
            f"extra:{how_many(max(0, len(self.lines) - len(wanted)), 2)}",
        )

    def state(self) -> tuple[str, ...]:
        unclear = next((item for item in self.wanted() if item.line is None and not item.is_dropped), None)
        return (
            *super().state(),
            *self._cart_features(),
            f"cards:{bool(self.cards)},{bool(self.visited)}",
            f"unclear:{f'{unclear.clarity()},{unclear.looked()}' if unclear else ''}",
        )


def _shown(shown: dict[str, Any], attribute: str) -> str:
    return str(shown.get(attribute, ""))


def _is_alike(shown: str, said: Any) -> bool:
    """Tell whether a value that was said is the one that is shown; what is shown has a unit where it is a number."""
    return (
        shown.partition(" ")[0] == f"{said:g}" if isinstance(said, float) else shown.casefold() == str(said).casefold()
    )
