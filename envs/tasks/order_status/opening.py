"""The opening of STATUS."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind, Mention
from ecom_rlve.envs.language.frames import frames_in
from ecom_rlve.envs.language.speaker import phrase

_FRAMES = frames_in(__package__)


def opening(intent: Intent[Any], said: Collection[Slot]) -> Act:
    """Return the first act."""
    goal, subject, reference = intent.goal, intent.subjects[0], intent.goal.reference
    rng, bank = intent.streams.stream("reference"), intent.world.shop.bank
    order = phrase(_FRAMES[reference.table], rng, bank, **dict(reference.places))
    facts = tuple(slot.fact for slot in intent.slots if slot in said and not slot.is_essential)
    return Act(
        ActKind.OPEN,
        (Mention(subject.singular, subject.plural, facts),),
        frames=_FRAMES["open_status_arrival" if goal.wants_arrival else "open_status"],
        places=(("order", order), *reference.places),
        says=(("asks", "status and arrival" if goal.wants_arrival else "status"), *reference.says),
    )
