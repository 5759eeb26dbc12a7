"""The opening of SUB."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind, Mention
from ecom_rlve.envs.language.templates import bank

_OPENING = bank(
    'I wanted the "{title}", but it is sold out. What comes closest?',
    'The "{title}" is sold out. Can you find something like it?',
    plain=('My choice was the "{title}", which is sold out now. What could I take in its place?',),
    terse=('"{title}" is sold out. Need a substitute.', 'Substitute for "{title}", please. Sold out.'),
    formal=(
        'Regrettably the "{title}" is sold out. I would appreciate a comparable product.',
        'I intended to order the "{title}", which is sold out. Kindly suggest alternatives.',
    ),
    chatty=(
        'Oh no, the "{title}" I had my eye on is sold out! What is most like it?',
        'I was so looking forward to the "{title}", and now it is sold out! Any ideas?',
    ),
)


def opening(intent: Intent[Any], said: Collection[Slot]) -> Act:
    """Return the first act."""
    subject = intent.subjects[0]
    facts = tuple(slot.fact for slot in intent.slots if slot in said)
    mention = Mention(subject.singular, subject.plural, facts)
    title = str(intent.world.shop.full_card(intent.goal.original)["title"])
    places = (("title", title),)
    return Act(ActKind.OPEN, (mention,), bank=_OPENING, places=places, says=places)
