"""The opening of PD."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind, Mention
from ecom_rlve.envs.language.frames import frames_in

_OPENING = frames_in(__package__)["open_pd"]


def opening(intent: Intent[Any], said: Collection[Slot]) -> Act:
    """Return the first act."""
    subject = intent.subjects[0]
    facts = tuple(slot.fact for slot in intent.slots if slot in said)
    mention = Mention(subject.singular, subject.plural, facts, pronoun="it")
    return Act(ActKind.OPEN, (mention,), frames=_OPENING)
