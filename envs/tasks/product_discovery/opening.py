"""The opening of PD."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ecom_rlve.envs.customer.hearing.nouns import with_article
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind, Mention
from ecom_rlve.envs.language.templates import bank

_OPENING = bank(
    "I'm looking for {item}.",
    "Can you recommend {item}?",
    plain=("I need {item}, what would you suggest?", "I'd like some suggestions for {item}.", "Help me find {item}."),
    terse=("Need {item}.", "Recommend {item}.", "Looking for {item}, suggestions?", "Want {item}."),
    formal=(
        "I would appreciate your recommendations for {item}.",
        "I am looking for {item} and would value your advice.",
        "Could you kindly suggest {item}?",
    ),
    chatty=(
        "I've been meaning to get {item} for ages!",
        "I'd love some ideas for {item}!",
        "Could you help me pick {item}? There is so much choice!",
    ),
)


def opening(intent: Intent[Any], said: Collection[Slot]) -> Act:
    """Return the first act."""
    subject = intent.subjects[0]
    facts = tuple(slot.fact for slot in intent.slots if slot in said)
    mention = Mention(subject.singular, subject.plural, facts)
    return Act(ActKind.OPEN, (mention,), bank=_OPENING, places=(("item", with_article(subject.singular)),))
