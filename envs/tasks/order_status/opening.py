"""The opening of STATUS."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind, Mention
from ecom_rlve.envs.language.templates import bank

_ASKS_STATUS = bank(
    "What is the status of {order}?",
    "Could you check the status of {order}?",
    plain=("I'd like to know the status of {order}.", "How is {order} coming along?"),
    terse=("Status of {order}?", "How is {order} doing?"),
    formal=("I would like to know the status of {order}.", "Kindly tell me the status of {order}."),
    chatty=("I've been wondering how {order} is doing!", "Could you have a look how {order} is coming along?"),
)
_ASKS_ARRIVAL = bank(
    "What is the status of {order}, and what is its date of arrival?",
    "Could you check {order}: its status and the day it arrives or arrived?",
    plain=("How is {order} coming along, and on what day is it or was it here?", "Status and arrival date of {order}?"),
    terse=("Status and arrival date of {order}?", "{order}: status and arrival date?"),
    formal=(
        "I would like to know the status and the date of arrival of {order}.",
        "Kindly tell me the status of {order} and its date of arrival.",
    ),
    chatty=(
        "I've been wondering how {order} is doing and which day it is meant to be here!",
        "Could you have a look how {order} is doing, and on what date it comes or came?",
    ),
)


def opening(intent: Intent[Any], said: Collection[Slot]) -> Act:
    """Return the first act."""
    goal, subject = intent.goal, intent.subjects[0]
    facts = tuple(slot.fact for slot in intent.slots if slot in said and not slot.is_essential)
    return Act(
        ActKind.OPEN,
        (Mention(subject.singular, subject.plural, facts),),
        bank=_ASKS_ARRIVAL if goal.wants_arrival else _ASKS_STATUS,
        places=(("order", goal.reference.phrase), *goal.reference.protected),
        says=(("asks", "status and arrival" if goal.wants_arrival else "status"), *goal.reference.says),
    )
