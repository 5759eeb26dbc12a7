"""The opening of BUNDLE."""

from __future__ import annotations

from collections.abc import Collection

from ecom_rlve.envs.errand import Intent, facts_of_item
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind, Mention
from ecom_rlve.envs.language.templates import bank
from ecom_rlve.envs.tasks.bundle.facts import PROJECT
from ecom_rlve.envs.tasks.bundle.goal import BundleGoal

_OPENING = bank(
    "I'm {plan} and could use some help with the {project}.",
    "I'm {plan}; please find everything for the {project}.",
    plain=("I'm {plan} and need things for the {project}.", "Help me with the {project}: I'm {plan}."),
    terse=("I'm {plan}, need the {project}.", "The {project}: I'm {plan}. Help me shop."),
    formal=(
        "I'm {plan} and would appreciate your advice on the {project}.",
        "I would like you to assemble the {project} for me, as I'm {plan}.",
    ),
    chatty=(
        "Guess what, I'm {plan}, so let's talk about the {project}!",
        "I'm {plan}, and I can't wait to have the {project} complete!",
    ),
)
"""The essential part: what the customer is doing."""


def opening(intent: Intent[BundleGoal], said: Collection[Slot]) -> Act:
    """Return the first act."""
    project = intent.goal.project
    mentions = []
    for item, subject in enumerate(intent.subjects):
        facts = facts_of_item(intent.slots, item, said)
        # The project is always mentioned: with two or more mentions every sentence names what it is about.
        if facts or item == PROJECT:
            mentions.append(Mention(subject.singular, subject.plural, facts))
    places = (("plan", project.plan), ("project", project.name))
    return Act(ActKind.OPEN, tuple(mentions), bank=_OPENING, places=places, says=places)
