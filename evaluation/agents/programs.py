"""Small programs over the action space that never hear the customer's words, and how they are bred (SPEC §11).

A program is a list of steps and a rule for its answer. Every step and every rule is made of small numbers that are read
modulo what there is to choose from, so that any mutation of a program is a program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from numpy.random import Generator

OPS: Mapping[str, str] = MappingProxyType(
    {
        "search": "catalog_search",
        "history": "user_get_visit_history",
        "variants": "catalog_get_variants",
        "product": "catalog_get_product",
        "add": "cart_add",
        "quantity": "cart_set_quantity",
        "remove": "cart_remove",
        "orders": "order_list",
        "order": "order_get",
        "check": "return_check_eligibility",
        "return": "return_initiate",
        "exchange": "return_exchange",
        "sections": "policy_search",
        "section": "policy_get",
        "today": "datetime_now",
        "ask": "ask_user",
        "say": "",
        "propose": "",
        "turn": "",
        "stop": "",
        "skip": "",
        "repeat": "",
    }
)
"""What a step can do, and the tool that it needs."""
CONDITIONS = ("heard", "not heard", "excused", "not excused", "eligible", "not eligible", "refused", "sold out")
"""What ``stop`` and ``skip`` ask: whether the customer said anything, whether the last turn was free, what was seen."""
CARDS = ("shown", "history", "latest", "available", "gone", "kin", "out", "out's kin")
"""Products to point at; ``gone`` went out of stock before the program's eyes, ``kin`` is of a category of such; ``out``
is sold out, ``out's kin`` is what there is of the category in which most were seen to be."""
LINES = ("read", "eligible", "checked", "latest")
"""Order lines to point at."""
KEYS = ("first", "last", "cheap", "dear", "rated", "soon", "random")
"""By what the things pointed at are ordered."""
QUERIES = ("popular products", "gift", "black", "large", "new", "kitchen", "shoes", "cheap")
SUBJECTS = ("fee", "period", "window", "points", "department", "membership tier", "payment method", "order amount")
FILTERS = ("", "category", "brand", "category and stock", "stock", "dearer", "cheaper")
SORTS = ("relevance", "price_asc", "rating_desc", "ship_days_asc")
QUESTIONS = (
    "Anything else?",
    "Which brand, price and colour? How many do you need?",
    "Why do you send it back, and how do you want the money?",
    "When did you order it, and what did it cost?",
)
SAYINGS = (
    "I have added everything to your cart. Is everything right?",
    "Everything is sold out. What should I take instead?",
    "I am looking.",
)
REASONS = ("defective", "damaged", "wrong_item", "does_not_fit", "not_as_described", "changed_mind", "arrived_late")
METHODS = ("original_payment", "store_credit")
STATUSES = ("as read", "processing", "shipped", "out_for_delivery", "delivered", "delayed", "cancelled")
RESOLUTIONS = ("as done", "as checked", "returned", "exchanged", "not_eligible")
VALUES = (30, 14, 7, 60, 90, 0, 10, 15, 100, 5)
UNITS = ("days", "percent", "USD", "points", "hours", "weeks")

_MOST_STEPS = 14
_MOST_NUMBER = 12


@dataclass(frozen=True, slots=True)
class Pick:
    """Which one of several things."""

    pool: int = 0
    key: int = 0
    at: int = 0

    def text(self, pools: Sequence[str]) -> str:
        """Return the choice in words."""
        return f"{pools[self.pool % len(pools)]} by {KEYS[self.key % len(KEYS)]} #{self.at}"


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction; what does not matter to it is ignored."""

    op: str
    pick: Pick = Pick()
    number: int = 0

    def text(self) -> str:
        """Return the instruction in words."""
        op, number = self.op, self.number
        if op in ("stop", "skip"):
            return f"{op} if {CONDITIONS[number % len(CONDITIONS)]}"
        if op in ("variants", "product", "add", "exchange"):
            return f"{op}({self.pick.text(CARDS)}, {number})"
        if op in ("check", "return"):
            return f"{op}({self.pick.text(LINES)}, {number})"
        if op in ("order", "section", "remove", "quantity"):
            return f"{op}({self.pick.text(('any',))}, {number})"
        if op == "search":
            of = f", {FILTERS[self.pick.at % len(FILTERS)]}" if self.pick.at % len(FILTERS) else ""
            return f"search({QUERIES[number % len(QUERIES)]!r}{of}, {self.pick.text(CARDS)})"
        return f"{op}({number})" if op in ("say", "ask", "sections", "repeat") else op


@dataclass(frozen=True, slots=True)
class Rule:
    """How the answer's fields are filled, as far as the environment's answer has them."""

    cards: Pick = Pick()
    many: int = 3
    """Products recommended; beyond six: one of each category."""
    order: Pick = Pick()
    line: Pick = Pick()
    constant: int = 0
    """Status or resolution: 0 as read or done, else a constant."""
    figure: int = 0
    """Even: a figure that was read, odd: a constant."""
    unit: int = 0
    waits: bool = True
    """Whether it sees the results of its last calls before it answers."""

    def text(self, fields: Sequence[str]) -> str:
        """Return the fields that are filled, in words."""
        said = {
            "recommended_product_ids": f"{self.many} of {self.cards.text(CARDS)}",
            "selected_order_id": self.order.text(("orders",)),
            "selected_line_id": self.line.text(LINES),
            "order_status": STATUSES[self.constant % len(STATUSES)],
            "resolution": RESOLUTIONS[self.constant % len(RESOLUTIONS)],
            "value": f"constant {VALUES[self.figure // 2 % len(VALUES)]}"
            if self.figure % 2
            else f"#{self.figure // 2}",
            "unit": UNITS[self.unit % len(UNITS)] if self.figure % 2 else "as read",
        }
        return "answer(" + ", ".join(f"{name}={said[name]}" for name in fields if name in said) + ")"


@dataclass(frozen=True, slots=True)
class Kit:
    """What an environment, or an intent of a journey, has to offer."""

    ops: tuple[str, ...]
    fields: tuple[str, ...]
    intent: str = ""
    """Named in the answer where it is not empty."""

    @classmethod
    def of(cls, tools: Sequence[str], fields: Sequence[str], intent: str = "") -> Kit:
        """Return the kit of some tools and of the fields of an answer."""
        return cls(tuple(op for op, tool in OPS.items() if not tool or tool in tools), tuple(fields), intent)


@dataclass(frozen=True, slots=True)
class Part:
    """A program for one environment or intent."""

    kit: Kit
    steps: tuple[Step, ...]
    rule: Rule

    def text(self) -> str:
        """Return the program on one line."""
        said = "; ".join([*(step.text() for step in self.steps), self.rule.text(self.kit.fields)])
        return f"{self.kit.intent}: {said}" if self.kit.intent else said


Program = tuple[Part, ...]
"""One part; in a journey one for each intent that is gone through."""


def text_of(program: Program) -> str:
    """Return a program as readable text."""
    return " | ".join(part.text() for part in program)


def listens(program: Program) -> bool:
    """Tell whether a program heeds the customer's reactions: not what they say, but that they do, or excuse a turn."""
    heard = {at for at, name in enumerate(CONDITIONS) if "heard" in name or "excused" in name}
    return any(
        step.op in ("stop", "skip") and step.number % len(CONDITIONS) in heard
        for part in program
        for step in part.steps
    )


_PLANS: tuple[tuple[str, ...], ...] = (
    ("history", "add"),
    ("search", "add"),
    ("search",),
    ("search", "search", "product"),
    ("orders", "order"),
    ("orders", "order", "check", "return"),
    ("sections", "section", "section"),
    ("sections", "section", "sections", "section", "section", "section"),
)
"""Outlines that do something sensible, to begin with."""
_UNTIL_EXCUSED = Step("stop", number=CONDITIONS.index("excused"))
_PROBES: tuple[tuple[Step, ...], ...] = (
    (
        Step("history"),
        *(Step("add", Pick(CARDS.index("history"))), Step("propose"), _UNTIL_EXCUSED, Step("remove")),
        *(
            Step("add", Pick(CARDS.index("history"), 0, 1)),
            Step("propose"),
            _UNTIL_EXCUSED,
            Step("remove", Pick(0, 0, 1)),
        ),
        Step("add", Pick(CARDS.index("history"), 0, 2)),
    ),
    (Step("search"), Step("propose"), _UNTIL_EXCUSED, Step("search", number=1), Step("propose"), _UNTIL_EXCUSED),
)
"""Programs that guess and wait for a nod: a turn in which the customer confirms costs nothing, which tells."""


def random_program(kits: Sequence[Kit], rng: Generator) -> Program:
    """Return a program: half of them begin with a sensible outline."""
    if len(kits) == 1:
        return (_random_part(kits[0], rng),)
    chosen = rng.permutation(len(kits)).tolist()[: 2 + int(rng.integers(2))]
    return tuple(_random_part(kits[at], rng) for at in chosen)


def _random_part(kit: Kit, rng: Generator) -> Part:
    plans = [plan for plan in _PLANS if set(plan) <= set(kit.ops)]
    steps: list[Step] = []
    probes = [probe for probe in _PROBES if {step.op for step in probe} <= set(kit.ops)]
    if probes and rng.random() < 0.15:
        return Part(kit, probes[int(rng.integers(len(probes)))], Rule(Pick(CARDS.index("latest"))))
    if plans and rng.random() < 0.5:
        plan = plans[int(rng.integers(len(plans)))]
        if rng.random() < 0.5:
            return Part(kit, tuple(Step(op) for op in plan), Rule())
        steps = [replace(_random_step(kit, rng), op=op) for op in plan]
    steps += [_random_step(kit, rng) for _ in range(int(rng.integers(0, 5)))]
    return Part(kit, tuple(steps), _random_rule(rng))


def _number(rng: Generator) -> int:
    """Return a small number, 0 most often."""
    return 0 if rng.random() < 0.4 else int(rng.integers(_MOST_NUMBER))


def _random_pick(rng: Generator) -> Pick:
    return Pick(_number(rng), _number(rng), _number(rng))


def _random_step(kit: Kit, rng: Generator) -> Step:
    return Step(kit.ops[int(rng.integers(len(kit.ops)))], _random_pick(rng), _number(rng))


def _random_rule(rng: Generator) -> Rule:
    return Rule(
        _random_pick(rng),
        1 + int(rng.integers(8)),
        _random_pick(rng),
        _random_pick(rng),
        _number(rng),
        int(rng.integers(20)),
        _number(rng),
        bool(rng.random() < 0.8),
    )


def mutated(program: Program, kits: Sequence[Kit], rng: Generator) -> Program:
    """Return a program with one to three changes."""
    parts = list(program)
    for _ in range(1 + int(rng.integers(3))):
        at = int(rng.integers(len(parts)))
        if len(kits) > 1 and rng.random() < 0.15:
            parts[at] = _random_part(kits[int(rng.integers(len(kits)))], rng)
        else:
            parts[at] = _mutated_part(parts[at], rng)
    return tuple(parts)


def _mutated_part(part: Part, rng: Generator) -> Part:
    steps, rule = list(part.steps), part.rule
    kind = int(rng.integers(6))
    at = int(rng.integers(len(steps) + 1))
    if kind == 0 and len(steps) < _MOST_STEPS:
        steps.insert(at, _random_step(part.kit, rng))
    elif kind == 1 and at < len(steps):
        del steps[at]
    elif kind == 2 and at < len(steps):
        steps[at] = replace(steps[at], pick=_random_pick(rng))
    elif kind == 3 and at < len(steps):
        steps[at] = replace(steps[at], number=_number(rng))
    elif kind == 4 and at < len(steps):
        steps[at] = _random_step(part.kit, rng)
    else:
        rule = _mutated_rule(rule, rng)
    return Part(part.kit, tuple(steps), rule)


def _mutated_rule(rule: Rule, rng: Generator) -> Rule:
    fresh = _random_rule(rng)
    names = ("cards", "many", "order", "line", "constant", "figure", "unit", "waits")
    name = names[int(rng.integers(len(names)))]
    return replace(rule, **{name: getattr(fresh, name)})


def crossed(first: Program, second: Program, rng: Generator) -> Program:
    """Return a program of the first's parts with the beginning of one and the end of the other in each."""
    parts = []
    for at, part in enumerate(first):
        other = second[at % len(second)]
        if other.kit != part.kit:
            parts.append(part)
            continue
        cut = int(rng.integers(len(part.steps) + 1))
        steps = (*part.steps[:cut], *other.steps[min(cut, len(other.steps)) :])[:_MOST_STEPS]
        parts.append(Part(part.kit, steps, part.rule if rng.random() < 0.5 else other.rule))
    return tuple(parts)
