"""The opening of RETURN."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ecom_rlve.envs.errand import Intent, mentions_of
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind
from ecom_rlve.envs.language.templates import bank

_ASKS = bank(
    "I want to send back the {item} I bought.",
    "I'd like to return my {item}.",
    plain=("The {item} I got from you has to go back.", "I need to send a {item} back to you."),
    terse=("Returning my {item}.", "My {item} goes back.", "Need to return a {item}."),
    formal=(
        "I wish to return the {item} that I ordered.",
        "I would like to send back the {item} from a past order.",
        "I am writing about the {item} I ordered, which I have to send back.",
    ),
    chatty=(
        "So, about the {item} I got from you, I'm afraid it has to go back!",
        "I'm a bit sad about it, but the {item} I ordered needs to go back.",
    ),
)


def opening(intent: Intent[Any], said: Collection[Slot]) -> Act:
    """Return the first act; the first subject is the thing that goes back."""
    # The new one is mentioned only with a wish for it; otherwise it would be told unasked that one is wanted.
    mentions = tuple(each for item, each in enumerate(mentions_of(intent, said)) if item == 0 or each.facts)
    item = (("item", intent.subjects[0].singular),)
    return Act(ActKind.OPEN, mentions, bank=_ASKS, places=item, says=item)
