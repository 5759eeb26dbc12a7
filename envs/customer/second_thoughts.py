"""When a customer changes their mind (SPEC §6): once, after they have said what they revise, and in time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ecom_rlve.envs.customer.turn import Heard, Left
from ecom_rlve.envs.errand import Change, Intent
from ecom_rlve.envs.goal import Slot


class SecondThoughts:
    """What a customer will still revise in one intent."""

    def __init__(self, intent: Intent[Any]) -> None:
        self._intent = intent
        self._revision = intent.revision
        """None from the moment when it was due."""
        self._closed = 0

    def pass_turn(self) -> None:
        """Count a turn of the intent that was closed."""
        self._closed += 1

    def changed(self, said: Collection[Slot], heard: Heard, left: Left) -> Change | None:
        """Return what the customer wants from the reply to this turn on; None if they want what they wanted.

        ``said`` is what they had told before it. A change of mind is due once; where too few turns are left then, it
        never falls.
        """
        revision = self._revision
        if revision is None or self._closed + 1 < revision.turn or revision.slot not in said:
            return None
        self._revision = None
        change = revision.change(self._intent)
        if change is None:
            return None
        # A question that names nothing is the agent's turn in any case (SPEC §2.3).
        most = left.if_counted if _asks_openly(heard) else left.if_excused
        return change if revision.turns_after(self._intent, change) <= most else None


def _asks_openly(heard: Heard) -> bool:
    is_named = any(reading.questions or reading.unknowable for reading in heard.readings)
    return not is_named and any(reading.is_open for reading in heard.readings)
