"""What a customer remembers of an order or an order line: enough to identify it, and no more (SPEC §6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce
from itertools import combinations
from operator import and_
from typing import Generic, TypeVar

from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.catalog.shop_words.currencies import spelled_amount
from ecom_rlve.envs.language.acts import Fact, SlotKind

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

DAY_WORDS = (
    "date", "day", "purchase date", "date of purchase", "date of the order", "date of your order", "when was it",
    "when was the order", "when did you order", "when did you buy", "when did you place", "when you ordered",
    "when you bought", "when you placed",
)  # fmt: skip
TOTAL_WORDS = (
    "total", "total amount", "total price", "total cost", "amount", "order amount", "order value", "in total", "in all",
    "how much was the order", "how much did the order", "how much was your order", "how much did your order",
)  # fmt: skip

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Clue(Generic[T]):
    """One thing that the customer may remember, with a test of which candidates it is true for."""

    fact: Fact
    holds: Callable[[T], bool]


def singled_out(clues: Sequence[Clue[T]], candidates: Sequence[T]) -> list[Clue[T]]:
    """Return clues that together leave as few candidates as all clues do, and none of which can be spared.

    Of all such sets a largest one is returned, the first in the order of the clues. So leaving any of its clues out of
    the first message leaves the agent with more candidates.
    """
    everyone = (1 << len(candidates)) - 1
    masks = [sum(1 << at for at, candidate in enumerate(candidates) if clue.holds(candidate)) for clue in clues]
    fewest = _met(everyone, masks)
    for size in range(len(clues), 0, -1):
        for chosen in combinations(range(len(clues)), size):
            if _met(everyone, [masks[at] for at in chosen]) != fewest:
                continue
            others = ([masks[other] for other in chosen if other != at] for at in chosen)
            if all(_met(everyone, rest) != fewest for rest in others):
                return [clues[at] for at in chosen]
    return []


def _met(everyone: int, masks: Sequence[int]) -> int:
    """Return the candidates that are in all masks, as bits."""
    return reduce(and_, masks, everyone)


def spelled_day(day: date) -> str:
    """Return "3 March"."""
    return f"{day.day} {MONTHS[day.month - 1]}"


def spelled_money(cents: int, currency: str | None = None) -> str:
    """Return "$24.99"; ``currency`` is the catalog's, None where it states none."""
    return spelled_amount(cents, currency)


def day_fact(kind: SlotKind, day: date) -> Fact:
    """Return a day as a fact."""
    return Fact(kind.name, Constraint(kind.name, Op.EQ, day.toordinal()), kind=kind, spelled=spelled_day(day))


def money_fact(kind: SlotKind, cents: int, currency: str | None = None) -> Fact:
    """Return an amount of money as a fact."""
    return Fact(kind.name, Constraint(kind.name, Op.EQ, cents), kind=kind, spelled=spelled_money(cents, currency))


def count_fact(kind: SlotKind, count: int) -> Fact:
    """Return a number of pieces as a fact."""
    return Fact(kind.name, Constraint(kind.name, Op.EQ, count), kind=kind, spelled=str(count))


def word_fact(kind: SlotKind, words: str) -> Fact:
    """Return words as a fact."""
    return Fact(kind.name, Constraint(kind.name, Op.EQ, words), kind=kind)
