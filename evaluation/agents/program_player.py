"""How a program that never hears the customer's words plays an episode (SPEC §11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from numpy.random import Generator

from ecom_rlve.evaluation.agents import programs
from ecom_rlve.evaluation.agents.agent import Action, call
from ecom_rlve.evaluation.agents.blind_reader import figures
from ecom_rlve.evaluation.agents.programs import Part, Pick, Program, Step
from ecom_rlve.models import Observation, Style, ToolResult

_PAGE, _ORDERS = 10, 50
_MOST_REPEATS = 6
_ALL_KINDS = 7


class Glimpse(NamedTuple):
    """All that a program is shown of an observation: whether the customer spoke, never what they said."""

    results: Sequence[ToolResult]
    turns_left: int
    tool_calls_left: int
    has_spoken: bool

    @classmethod
    def of(cls, seen: Observation) -> Glimpse:
        """Return what a program may see of an observation."""
        return cls(seen.tool_results, seen.turns_left, seen.tool_calls_left, bool(seen.user_message))


@dataclass(slots=True)
class Mind:
    """What a program has seen so far."""

    rng: Generator
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)
    history: list[str] = field(default_factory=list)
    latest: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    variants: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    cart: list[str] = field(default_factory=list)
    orders: list[dict[str, Any]] = field(default_factory=list)
    read: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    checked: dict[str, bool] = field(default_factory=dict)
    done: str = ""
    sections: dict[str, bool] = field(default_factory=dict)
    """By id, whether it was asked for."""
    figures: list[dict[str, Any]] = field(default_factory=list)
    turns_left: int = 0
    flags: dict[str, bool] = field(default_factory=dict)

    def take(self, seen: Glimpse, *, closed: bool) -> None:
        """Learn from a glimpse; ``closed`` says whether the program closed a turn before it."""
        self.flags["heard"] = seen.has_spoken
        self.flags["excused"] = closed and seen.turns_left >= self.turns_left
        self.flags["sold out"] = bool(self.gone)
        self.turns_left = seen.turns_left
        for result in seen.results:
            self.flags["refused"] = result.result is None
            if result.result is not None:
                self._learn(result.name, result.result)

    def _learn(self, tool: str, found: dict[str, Any]) -> None:
        cards = [card for card in found.get("results", ()) if "product_id" in card]
        if cards:
            self.latest = [card["product_id"] for card in cards]
            self.history = self.latest if tool == "user_get_visit_history" else self.history
        for card in cards:
            before = self.cards.get(card["product_id"])
            if before is not None and before.get("in_stock") and not card.get("in_stock"):
                self.gone.append(card["product_id"])
            self.cards[card["product_id"]] = card
        if "variants" in found:
            self._learn_variants(found)
        if tool == "cart_add":
            self.cart.append(found["line"]["line_id"])
        elif tool == "order_list":
            self.orders = found["orders"]
        elif tool == "order_get":
            self.read[found["order_id"]] = found
            self.lines.update({line["line_id"]: {**line, "order_id": found["order_id"]} for line in found["lines"]})
        elif tool == "return_check_eligibility":
            self.checked[found["line_id"]] = self.flags["eligible"] = found["eligible"]
        elif tool in ("return_initiate", "return_exchange"):
            self.done = "returned" if tool == "return_initiate" else "exchanged"
        for section in found.get("results", ()):
            if "section_id" in section:
                self.sections.setdefault(section["section_id"], False)
        self.figures += figures(found.get("text", ""))

    def _learn_variants(self, found: dict[str, Any]) -> None:
        product_id = found["product_id"]
        before = {each["variant_id"]: each["in_stock"] for each in self.variants.get(product_id, ())}
        if any(before.get(each["variant_id"]) and not each["in_stock"] for each in found["variants"]):
            self.gone.append(product_id)
        self.variants[product_id] = found["variants"]

    def holds(self, number: int) -> bool:
        """Tell whether a condition of :data:`programs.CONDITIONS` holds."""
        name = programs.CONDITIONS[number % len(programs.CONDITIONS)]
        return self.flags.get(name.removeprefix("not "), False) != name.startswith("not ")

    def ranked_cards(self, pick: Pick) -> list[dict[str, Any]]:
        """Return the products of a pool in the order of a key."""
        kinds = {self.cards[name].get("category") for name in self.gone if name in self.cards}
        out = [name for name, card in self.cards.items() if not card.get("in_stock", True)]
        emptiest = Counter(self.cards[name].get("category") for name in out).most_common(1)
        pools: dict[str, Callable[[], list[str]]] = {
            "shown": lambda: list(self.cards),
            "history": lambda: self.history,
            "latest": lambda: self.latest,
            "available": lambda: [name for name, card in self.cards.items() if card.get("in_stock")],
            "gone": lambda: [name for name in self.gone if name in self.cards],
            "kin": lambda: [name for name, card in self.cards.items() if card.get("category") in kinds],
            "out": lambda: out,
            "out's kin": lambda: [
                name
                for name, card in self.cards.items()
                if card.get("in_stock") and emptiest and card.get("category") == emptiest[0][0]
            ],
        }
        names = pools[programs.CARDS[pick.pool % len(programs.CARDS)]]()
        return self._ordered([self.cards[name] for name in names], pick, "price")

    def card(self, pick: Pick) -> dict[str, Any] | None:
        """Return the product that a choice points at."""
        return _at(self.ranked_cards(pick), pick)

    def order(self, pick: Pick) -> dict[str, Any] | None:
        """Return the order of the list that a choice points at."""
        return _at(self._ordered(self.orders, pick, "total"), pick)

    def line(self, pick: Pick) -> dict[str, Any] | None:
        """Return the order line that a choice points at."""
        pool = programs.LINES[pick.pool % len(programs.LINES)]
        lines = list(self.lines.values())
        if pool == "latest":
            lines = lines[-1:]
        elif pool == "eligible":
            lines = [line for line in lines if self.checked.get(line["line_id"])]
        elif pool == "checked":
            lines = [line for line in lines if line["line_id"] in self.checked]
        return _at(self._ordered(lines, pick, "price_paid"), pick)

    def _ordered(self, things: list[dict[str, Any]], pick: Pick, price: str) -> list[dict[str, Any]]:
        key = programs.KEYS[pick.key % len(programs.KEYS)]
        if key == "last":
            return things[::-1]
        if key == "random":
            return [things[at] for at in self.rng.permutation(len(things)).tolist()]
        if key == "first":
            return things
        name, sign = {"cheap": (price, 1), "dear": (price, -1), "rated": ("rating", -1), "soon": ("ship_days", 1)}[key]
        return sorted(things, key=lambda thing: sign * thing.get(name, 0))


def _at(things: list[dict[str, Any]], pick: Pick) -> dict[str, Any] | None:
    return things[pick.at % len(things)] if things else None


class Player:
    """Plays a program through one episode."""

    def __init__(self, program: Program, style: Style, rng: Generator) -> None:
        """``rng`` is the program's own coin: a function of the episode's number, not of the episode."""
        self._program = program
        self._style = style
        self._mind = Mind(rng)
        self._part = 0
        self._begin()
        self._closed = False

    def _begin(self) -> None:
        self._at = 0
        self._repeats = 0

    def act(self, seen: Glimpse) -> Action:
        """Return the next action."""
        self._mind.take(seen, closed=self._closed)
        action = self._next(seen)
        self._closed = action.get("end_turn", True)
        return action

    def _next(self, seen: Glimpse) -> Action:
        part = self._program[self._part % len(self._program)]
        calls: list[dict[str, Any]] = []
        is_last = seen.turns_left <= 1
        while self._at < len(part.steps):
            step = part.steps[self._at]
            if step.op in ("stop", "skip", "repeat"):
                if calls and not is_last:
                    return {"tool_calls": calls}
                self._jump(step, len(part.steps))
                continue
            if step.op in ("say", "ask", "propose", "turn"):
                self._at += 1
                if not is_last:
                    return self._spoken(part, step, calls)
                continue
            made = _call(self._mind, step)
            if calls and (made is None or len(calls) >= max(1, seen.tool_calls_left)):
                if is_last:
                    break
                return {"tool_calls": calls}
            self._at += 1
            if made is None:
                continue
            if self._style == "tool" and not is_last:
                return {"tool_calls": [made], "end_turn": False}
            calls.append(made)
            if self._style == "tool":
                break
        if calls and part.rule.waits and not is_last:
            return {"tool_calls": calls}
        self._part += 1
        self._begin()
        return {"tool_calls": calls, "answer": _answer(self._mind, part, done=True)}

    def _jump(self, step: Step, end: int) -> None:
        if step.op == "repeat":
            is_again = self._repeats < _MOST_REPEATS
            self._repeats += is_again
            self._at += -min(self._at, 1 + step.number % 4) if is_again else 1
        elif self._mind.holds(step.number):
            self._at = end if step.op == "stop" else self._at + 2
        else:
            self._at += 1

    def _spoken(self, part: Part, step: Step, calls: list[dict[str, Any]]) -> Action:
        if step.op == "turn":
            return {"tool_calls": calls}
        if step.op == "propose":
            return {"tool_calls": calls, "answer": _answer(self._mind, part, done=False)}
        words = programs.SAYINGS if step.op == "say" else programs.QUESTIONS
        return {"tool_calls": calls, "assistant_message": words[step.number % len(words)]}


def _call(mind: Mind, step: Step) -> dict[str, Any] | None:
    """Return the tool call of a step, None where there is nothing that it could point at."""
    op, pick, number = step.op, step.pick, step.number
    if op in ("history", "today"):
        return call(programs.OPS[op])
    if op == "orders":
        return call("order_list", limit=_ORDERS)
    if op == "search":
        return _search(mind, step)
    if op == "sections":
        return call("policy_search", query=programs.SUBJECTS[number % len(programs.SUBJECTS)])
    if op == "section":
        return _section(mind)
    if op == "order":
        order = mind.order(pick)
        return order and call("order_get", order_id=order["order_id"])
    if op in ("remove", "quantity"):
        if not mind.cart:
            return None
        line_id = mind.cart[pick.at % len(mind.cart)]
        return call(programs.OPS[op], line_id=line_id, **({"quantity": 1 + number % 4} if op == "quantity" else {}))
    if op in ("check", "return", "exchange"):
        return _about_line(mind, step)
    card = mind.card(pick)
    if card is None or op != "add":
        return card and call(programs.OPS[op], product_id=card["product_id"])
    listed = mind.variants.get(card["product_id"], [])
    variant = listed[number // 4 % len(listed)]["variant_id"] if listed else None
    return call("cart_add", product_id=card["product_id"], variant_id=variant, quantity=1 + number % 4)


def _section(mind: Mind) -> dict[str, Any] | None:
    for section_id, is_asked in mind.sections.items():
        if not is_asked:
            mind.sections[section_id] = True
            return call("policy_get", section_id=section_id)
    return None


def _about_line(mind: Mind, step: Step) -> dict[str, Any] | None:
    line = mind.line(step.pick)
    if line is None:
        return None
    which = {"order_id": line["order_id"], "line_id": line["line_id"]}
    if step.op == "check":
        return call("return_check_eligibility", **which)
    reason = programs.REASONS[step.number % len(programs.REASONS)]
    if step.op == "return":
        method = programs.METHODS[step.number // len(programs.REASONS) % len(programs.METHODS)]
        return call("return_initiate", **which, reason=reason, method=method)
    card = mind.card(step.pick)
    return card and call("return_exchange", **which, reason=reason, new_product_id=card["product_id"])


def _search(mind: Mind, step: Step) -> dict[str, Any]:
    filters = programs.FILTERS[step.pick.at % len(programs.FILTERS)]
    card = mind.card(step.pick) or {}
    has_filter = any(card.get(name) is not None for name in filters.split())
    return call(
        "catalog_search",
        query="" if has_filter else programs.QUERIES[step.number % len(programs.QUERIES)],
        limit=_PAGE,
        sort=programs.SORTS[step.number % len(programs.SORTS)],
        category=card.get("category") if "category" in filters else None,
        brand=card.get("brand") if "brand" in filters else None,
        in_stock=True if "stock" in filters else None,
        price_min=card.get("price") if filters == "dearer" else None,
        price_max=card.get("price") if filters == "cheaper" else None,
    )


def _answer(mind: Mind, part: Part, *, done: bool) -> dict[str, Any]:
    rule, fields = part.rule, part.kit.fields
    order, line = mind.order(rule.order), mind.line(rule.line)
    facts: dict[str, Any] = {"recommended_product_ids": _recommended(mind, part)}
    if order is not None:
        read = mind.read.get(order["order_id"], {})
        status = programs.STATUSES[rule.constant % len(programs.STATUSES)]
        facts["order_status"] = read.get("status") if status == "as read" else status
        facts["eta_date"] = read.get("delivered", read.get("eta"))
        facts["selected_order_id"] = order["order_id"]
    if line is not None:
        facts["selected_line_id"], facts["selected_order_id"] = line["line_id"], line["order_id"]
        facts["resolution"] = _resolution(mind, part, line["line_id"])
    if rule.figure % 2:
        facts["value"] = programs.VALUES[rule.figure // 2 % len(programs.VALUES)]
        facts["unit"] = programs.UNITS[rule.unit % len(programs.UNITS)]
    elif mind.figures:
        facts |= mind.figures[rule.figure // 2 % len(mind.figures)]
    given = {name: facts[name] for name in fields if facts.get(name) is not None}
    return {"done": done, **({"intent": part.kit.intent} if part.kit.intent else {}), **given}


def _resolution(mind: Mind, part: Part, line_id: str) -> str | None:
    resolution = programs.RESOLUTIONS[part.rule.constant % len(programs.RESOLUTIONS)]
    if resolution == "as done":
        return mind.done or None
    if resolution == "as checked":
        return mind.done or "returned" if mind.checked.get(line_id, True) else "not_eligible"
    return resolution


def _recommended(mind: Mind, part: Part) -> list[str]:
    cards, many = mind.ranked_cards(part.rule.cards), part.rule.many
    if many >= _ALL_KINDS:
        first: dict[Any, str] = {}
        for card in cards:
            first.setdefault(card.get("category"), card["product_id"])
        return list(first.values())[:many]
    at = part.rule.cards.at
    return [card["product_id"] for card in cards[at : at + many]]
