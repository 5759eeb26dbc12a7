"""What an expert does, and what a weaker rung of it leaves undone (SPEC §11, lazy policies)."""

from __future__ import annotations

from dataclasses import dataclass


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
