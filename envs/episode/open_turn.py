"""What has happened so far in the turn that is open."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class OpenTurn:
    """The agent's turn, from the last reply of the customer on."""

    calls: int = 0
    questions: tuple[str, ...] = ()
    changes: int = 0
    seen: int = 0
    stockouts: int = 0
    """How many things results had shown to be sold out before it."""
