"""What the first message tells of an intent, and what it leaves out (SPEC §7, Slots)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ecom_rlve.envs.customer.answers import OF_GOODS
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.goal import Slot

_HEDGE_SHARE = 0.2
"""Share of first messages that name something left out, where one item is wanted and something was left out."""
_HEDGED = frozenset(OF_GOODS) - {"quantity", "variant"}


def said_at_first(intent: Intent[Any]) -> set[Slot]:
    """Draw the slots that the first message tells."""
    slots, p_missing = intent.slots, intent.world.axes.p_missing
    draws = intent.streams.stream("omission").random(len(slots)).tolist()
    drawn = {slot for slot, draw in zip(slots, draws, strict=True) if slot.is_essential or draw >= p_missing}
    drawn -= {slot for slot in slots if slot.is_on_request}
    if all(slot.named_by is None for slot in slots):
        return drawn
    return {slot for slot in slots if (slot.named_by or slot) in drawn}


def hedged(intent: Intent[Any], said: Collection[Slot]) -> tuple[str, ...]:
    """Draw something left out that the customer says they have yet to tell: its name, never its value."""
    if len(intent.subjects) > 1:
        return ()
    unsaid = [slot.name for slot in intent.slots if slot not in said and slot.name in _HEDGED]
    if not unsaid:
        return ()
    chance, which = intent.streams.stream("hedge").random(2).tolist()
    return (unsaid[int(which * len(unsaid))],) if chance < _HEDGE_SHARE else ()
