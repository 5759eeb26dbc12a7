"""What an expert does, and what a weaker rung of it leaves undone (SPEC §11, lazy policies)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Skill:
    """Habits of an agent; the default is the expert's."""

    asks: bool = True
    """Asks for what the customer left out."""
    filters: bool = True
    """Uses exact filters; otherwise takes the best of the first results."""
    minds_stock: bool = True
    """Reports a stock-out and does what the customer decides."""
    compares: bool = True
    """Compares candidates; otherwise takes the first search hit."""
    guesses: bool = False
    """Guesses variant and quantity and waits to be corrected."""


@dataclass(frozen=True, slots=True)
class Rung:
    """A weaker expert."""

    skill: Skill
    axis: str = ""
    """The difficulty axis without which it would leave nothing undone; empty: there is none such."""


RUNGS: Mapping[str, Rung] = MappingProxyType(
    {
        "first_hit": Rung(Skill(compares=False)),
        "never_asks": Rung(Skill(asks=False), "p_missing"),
        "guess_and_wait": Rung(Skill(asks=False, guesses=True), "p_missing"),
        "ignores_stock": Rung(Skill(minds_stock=False), "p_oos"),
        "ignores_filters": Rung(Skill(filters=False)),
    }
)
"""The lazy policies by name."""
