"""The opening of CART."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ecom_rlve.envs.errand import Intent, mentions_of
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind
from ecom_rlve.envs.language.frames import frames_in

_OPENING = frames_in(__package__)["open_cart"]


def opening(intent: Intent[Any], said: Collection[Slot]) -> Act:
    """Return the first act: every wanted item with what is said about it."""
    return Act(ActKind.OPEN, mentions_of(intent, said), frames=_OPENING)
