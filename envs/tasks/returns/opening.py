"""The opening of RETURN."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ecom_rlve.envs.errand import Intent, mentions_of
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind
from ecom_rlve.envs.language.frames import frames_in

_OPENING = frames_in(__package__)["open_return"]


def opening(intent: Intent[Any], said: Collection[Slot]) -> Act:
    """Return the first act; the first subject is the thing that goes back."""
    # The new one is mentioned only with a wish for it; otherwise it would be told unasked that one is wanted.
    mentions = tuple(each for item, each in enumerate(mentions_of(intent, said)) if item == 0 or each.facts)
    noun = (("noun", intent.subjects[0].singular),)
    return Act(ActKind.OPEN, mentions, frames=_OPENING, places=noun, says=(("item", intent.subjects[0].singular),))
